"""Kernels become machine code for processors and systems that the tests do not run on."""

import subprocess
import sys

import pytest
from cross_compile import TARGETS, main
from environments import ROOT

# What numba makes where a counter of references goes down, and what only x86 has.
COUNTING = """target triple = "x86_64-unknown-linux-gnu"
target datalayout = ""
declare i8 @llvm.x86.atomic.sub.cc.i64(ptr, i64, i32 immarg) #4
define i8 @released(ptr %counter) {
  %1 = tail call i8 @llvm.x86.atomic.sub.cc.i64(ptr nonnull %counter, i64 1, i32 4)
  ret i8 %1
}
"""
CONTROL_WORD = """target triple = ""
target datalayout = ""
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @flush(ptr %word) {
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  ret void
}
"""
EMIT = """
import sys
from cross_compile import TARGETS, machine_of, retargeted
from llvmlite import binding
binding.initialize_all_targets()
binding.initialize_all_asmprinters()
machine = machine_of(TARGETS[sys.argv[1]])
code = retargeted(sys.stdin.read(), machine)
print(len(machine.emit_object(binding.parse_assembly(code))))
"""


def emit(target: str, code: str) -> subprocess.CompletedProcess[str]:
    """LLVM ends the process if a processor lacks an instruction."""
    command = [sys.executable, "-c", EMIT, target]
    return subprocess.run(command, cwd=ROOT / "tools", input=code, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("target", ["windows-x64", "macos-arm64"])
def test_a_counter_of_references_is_made_for_every_target(target: str) -> None:
    done = emit(target, COUNTING)
    assert done.returncode == 0 and int(done.stdout) > 100, done.stderr


def test_what_a_processor_lacks_is_found() -> None:
    assert emit("windows-x64", CONTROL_WORD).returncode == 0
    done = emit("linux-arm64", CONTROL_WORD)
    assert done.returncode != 0 and "ldmxcsr" in done.stderr


def test_a_kernel_is_made_for_every_target(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["cross_compile", "--only", "team.is_called"])
    assert main() == 0
    printed = capfd.readouterr().out
    assert all(f"{target}: 1 kernels" in printed for target in TARGETS)
