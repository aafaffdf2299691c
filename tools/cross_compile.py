"""Compiles kernels for the processors and systems that the project has no computer of, and says for which machine code was made.

The code is thrown away: it shows that LLVM knows every instruction that a kernel asks for, and not what a kernel computes there. For arm64,
kernels are compiled as they are there, without the control word of x86 (`arithmetic/vector.py`).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


_SUBTRACTED = re.compile(
    r"(?m)^ *%(?P<value>\S+) = (?:tail )?call i8 @llvm\.x86\.atomic\.sub\.cc\.i64\(ptr (?:\w+ )*(?P<counter>%\S+), i64 1, i32 4\).*$"
)


class Target(NamedTuple):
    """A system's triple, and LLVM's names of a processor and its features."""

    triple: str
    cpu: str
    features: str = ""

    @property
    def is_arm(self) -> bool:
        return self.triple.startswith(("aarch64", "arm64"))


TARGETS = {
    "windows-x64": Target("x86_64-pc-windows-msvc", "x86-64-v3"),
    "linux-arm64": Target("aarch64-unknown-linux-gnu", "generic", "+fp-armv8,+neon"),
    "macos-arm64": Target("arm64-apple-macosx12.0.0", "generic", "+fp-armv8,+neon"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="NAME", help="only kernels whose name contains this, such as transfer.advance")
    parser.add_argument("--for-arm", choices=("yes", "no"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.for_arm:
        return compile_all(arguments.only, is_arm=arguments.for_arm == "yes")
    failed = 0
    for for_arm in ("no", "yes"):
        with tempfile.TemporaryDirectory() as folder:
            # kernels without the control word must never be loaded here
            apart = {"NUMBA_CACHE_DIR": folder} if for_arm == "yes" else {}
            command = [sys.executable, __file__, "--only", arguments.only, "--for-arm", for_arm]
            # LLVM ends the process when it does not know an instruction, after the name of the kernel was printed
            done = subprocess.run(command, env={**os.environ, **apart, "PYTHONPATH": str(ROOT)}, check=False)
            failed += done.returncode != 0
    print("cross-compile: FAILED" if failed else "cross-compile: machine code was made for every target")
    return int(failed > 0)


def compile_all(only: str, *, is_arm: bool) -> int:
    """Compile kernels for the targets with arm processors, or for the others."""
    from llvmlite import binding

    from mpm_addon.core.arithmetic import vector
    from mpm_addon.core.stepping import compiling, kernel_list

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    vector.HAS_CONTROL_WORD = vector.HAS_CONTROL_WORD and not is_arm
    machines = {name: machine_of(target) for name, target in TARGETS.items() if target.is_arm == is_arm}
    codes = _codes_before_lowering()
    units = [unit for unit in kernel_list.units_of_default_scheme() if only in _name(kernel_list.dispatcher_of(unit))]
    sizes = dict.fromkeys(machines, 0)
    for number, unit in enumerate(units, 1):
        dispatcher = kernel_list.dispatcher_of(unit)
        print(f"{number} of {len(units)}: {_name(dispatcher)}", flush=True)
        compiling.compile_unit(unit)
        library = dispatcher.overloads[kernel_list.argument_types(unit)].library
        code = codes.get(id(library)) or str(library._get_module_for_linking())
        for name, machine in machines.items():
            sizes[name] += len(machine.emit_object(binding.parse_assembly(retargeted(code, machine))))
    for name, size in sizes.items():
        print(f"{name}: {len(units)} kernels, {size / 1e6:.1f} MB", flush=True)
    return 0


def _name(dispatcher: Any) -> str:
    return f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"


def _codes_before_lowering() -> dict[int, str]:
    """LLVM's text of what is compiled from now on, by its library, from before it is lowered to this computer's instructions."""
    from numba.core.codegen import CPUCodeLibrary

    codes: dict[int, str] = {}
    made: Any = CPUCodeLibrary
    finalize = made._finalize_final_module

    def keep(library: Any) -> None:
        codes[id(library)] = str(library._final_module)
        finalize(library)

    made._finalize_final_module = keep
    return codes


def machine_of(target: Target) -> Any:
    """LLVM's compiler for a target."""
    from llvmlite import binding

    made = binding.Target.from_triple(target.triple)
    return made.create_target_machine(cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default")


def retargeted(code: str, machine: Any) -> str:
    """LLVM's text of a kernel, for another system and processor."""
    code = re.sub(r'(?m)^target triple = ".*"$', f'target triple = "{machine.triple}"', code)
    code = re.sub(r'(?m)^target datalayout = ".*"$', f'target datalayout = "{machine.target_data}"', code)
    # numba's counting of references arrives lowered to x86: whether a counter is zero after 1 was subtracted
    code = re.sub(r"(?m)^declare i8 @llvm\.x86\.atomic\.sub\.cc\.i64.*$", "", code)
    code = _SUBTRACTED.sub(
        lambda found: (
            f"  %before{found['value']} = atomicrmw sub ptr {found['counter']}, i64 1 seq_cst\n"
            f"  %is_last{found['value']} = icmp eq i64 %before{found['value']}, 1\n"
            f"  %{found['value']} = zext i1 %is_last{found['value']} to i8"
        ),
        code,
    )
    return re.sub(r'"target-(?:cpu|features)"="[^"]*"', "", code)


if __name__ == "__main__":
    sys.exit(main())
