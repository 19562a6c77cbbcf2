#!/usr/bin/env python3
"""Draws the figure of lesson 21, as ./course draw 21 --fragments does.

Usage: scripts/figure_tensor_cores.py [FIGURE.svg]
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "common" / "draw"))
import fragments  # noqa: E402
from options import check_words  # noqa: E402

if __name__ == "__main__":
    check_words()
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "figures" / "21_tensor_cores.svg"
    figure.write_text(fragments.draw(), encoding="utf-8")
