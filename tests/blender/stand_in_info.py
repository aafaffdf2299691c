"""Replaces `info --json` in tests: `python stand_in_info.py BEHAVIOR`, with "good", "error", "silent" or "slow"."""

from __future__ import annotations

import json
import sys
import time


def main() -> None:
    behavior = sys.argv[1]
    if behavior == "error":
        told = {"problem": "too small", "remedies": ["use a larger one"], "subject": 'Emitter "Cube"'}
        print(json.dumps({"event": "error", **told}), flush=True)
        print('mpm: Emitter "Cube": too small; use a larger one.', file=sys.stderr, flush=True)
        sys.exit(1)
    if behavior == "silent":
        sys.exit(3)
    if behavior == "slow":
        time.sleep(60.0)
    answer = {
        "particles": 12345,
        "cells": 1543,
        "memory_bytes": 2_000_000_000,
        "memory_available_bytes": 8_000_000_000,
        "disk_bytes": 500_000_000,
        "disk_free_bytes": 9_000_000_000,
        "substeps": 400,
        "frame_count": 48,
        "grid_spacing": 0.05,
        "threads": 8,
        "sizes": {"Cube": [2.7, 1.9, 1.6]},
        "bulk_moduli": {"Water": 550000.0},
        "current_reasons": {"Cube": "it emits more than once"},
        "probe": {"expected_substeps": 777, "expected_seconds": 130.0},
        "warnings": [{"topic": "thin_emitter", "subject": 'Emitter "Cube"', "message": "it is 0.1 m thin; make it thicker."}],
    }
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
