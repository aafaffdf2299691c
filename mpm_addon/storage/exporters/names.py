"""Names of attributes for formats that only allow plain words."""

import re
from collections.abc import Iterable


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Each name with everything but ASCII letters, digits and _ replaced by _; duplicates get a number."""
    plain: dict[str, str] = {}
    for name in names:
        base = re.sub(r"\W", "_", name, flags=re.ASCII)
        taken, wanted, number = set(plain.values()), base, 2
        while wanted in taken:
            wanted, number = f"{base}_{number}", number + 1
        plain[name] = wanted
    return plain
