"""The command `presets`."""

import argparse
from typing import Any

from ..storage.scene_file import read_scene_words


def add_command(commands: Any) -> None:
    """Add `presets` to the sub-commands of a parser."""
    presets = commands.add_parser("presets", help="list or show the presets", allow_abbrev=False)
    presets.set_defaults(run=_list_presets)
    actions = presets.add_subparsers(metavar="list|show NAME")
    actions.add_parser("list", help="list all presets").set_defaults(run=_list_presets)
    show = actions.add_parser("show", help="show one preset")
    show.add_argument("name", metavar="NAME")
    show.set_defaults(run=_show_preset)


def _list_presets(_options: argparse.Namespace) -> None:
    from ..storage.presets import material_preset, material_preset_names, scene_preset_folders

    print("materials")
    for name in material_preset_names():
        preset = material_preset(name)
        print(f"  {name:<24} {preset.law.name:<12} {preset.description}")
    print("scenes")
    for name, folder in scene_preset_folders().items():
        words = read_scene_words(folder)
        print(f"  {name:<24} {words.description}\n  {'':<24} {folder}")
        for variant, description in words.variants.items():
            print(f"  {'':<24}   --variant {variant:<16} {description}")


def _show_preset(options: argparse.Namespace) -> None:
    from ..storage.presets import preset_file

    print(preset_file(options.name).read_text(encoding="utf-8"), end="")
