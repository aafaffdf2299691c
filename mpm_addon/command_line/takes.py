"""The command `takes`."""

import argparse
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.messages import one_line
from ..storage.takes import describe_takes, rename_take, show_take, take_words
from .printing import print_json


def add_command(commands: Any) -> None:
    """Add `takes` to the sub-commands of a parser."""
    takes = commands.add_parser("takes", help="list the takes of a cache, show another one, or name one", allow_abbrev=False)
    takes.add_argument("cache", metavar="DIR", type=Path, help="a cache")
    takes.add_argument("--show", metavar="N", type=int, help="make take N the current one")
    takes.add_argument("--name", metavar=("N", "TEXT"), nargs=2, help='give take N a name; "" removes it')
    takes.add_argument("--json", action="store_true", help="print JSON")
    takes.set_defaults(run=_takes)


def _takes(options: argparse.Namespace) -> None:
    if options.show is not None:
        show_take(options.cache, options.show)
    if options.name is not None:
        number, name = options.name
        if not number.isdecimal():
            raise CacheError(f"take {number!r} is not a number", "use one of those that are listed", subject=str(options.cache))
        rename_take(options.cache, int(number), name)
    takes = describe_takes(options.cache)
    if options.json:
        print_json({"cache": str(options.cache), "takes": takes})
        return
    for take in takes:
        print(one_line(take_words(take)))
