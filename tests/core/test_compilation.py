"""Where kernels may be written, so that an edited one never comes back stale from the disk."""

import re
from pathlib import Path

import mpm_addon.core
from mpm_addon.core.compilation.kernel import PACKAGES_WITH_KERNELS


def test_kernels_are_in_the_packages_whose_sources_name_the_cache() -> None:
    core = Path(mpm_addon.core.__file__).parent
    marked = re.compile(r"^@(kernel|law_kernel|generic|njit|overload|register_jitable)\b", re.MULTILINE)
    homes = {source.relative_to(core).parts[0] for source in core.rglob("*.py") if marked.search(source.read_text())}
    assert homes == set(PACKAGES_WITH_KERNELS)
