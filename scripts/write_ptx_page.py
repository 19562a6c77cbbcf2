#!/usr/bin/env python3
"""Writes docs/ptx.md from the simulator's table of PTX instructions.

    write_ptx_page.py --table build/bin/simt-ptx-table [--check]

--check: writes nothing, and fails if the page is not what the table says.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from options import Parser

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/ptx.md"

HEAD = """# PTX in the simulator

<!-- Written by scripts/write_ptx_page.py from the simulator's table of instructions. -->

`asm` statements in device code run in the simulator as they are: the template may hold several instructions,
`{ }` scopes with `.reg` declarations, predicates, labels and branches. Operands take the constraints `h` (16-bit
integers), `r` (32), `l` (64, and pointers), `q` (128), `f`, `d`, `n` (constants) and `C` (constant strings), with `=`
and `+` for results; a `"memory"` clobber is understood. What is written out in a statement is checked before anything
is compiled; a template that macros put together is checked at its first use. Either way one message names the line,
what is wrong, and the nearest instruction that exists.

```cpp
__device__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
```

Check mode sees what PTX reads and writes as it sees any access: bounds, alignment, initialisation and races, at the
line of the statement. A cache hint changes nothing. Addresses of shared memory are those of
`__cvta_generic_to_shared()`, 32 bits wide; an address that is no multiple of the access ends the launch, as on a GPU.
`bar.sync`, `bar.arrive` and `bar.red` are for whole warps: lanes that have parted wait for each other. `mbarrier`,
clusters of blocks, bulk copies, `wgmma` and `tcgen05` are refused by name.

In the tables, `{.x}` may be left out, and of `(.x|.y)` one is written. Their headings are those of the PTX ISA.

## Where the elements of a fragment lie

With g = lane / 4 and t = lane % 4, a lane has of `m16n8k16` with factors of 16 bits, written as (row, column):

| fragment | registers |
|---|---|
| A (16, 16) | (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8), each with its neighbour to the right in the upper half |
| B (16, 8) | (2t, g), (2t + 8, g), each with its neighbour below in the upper half |
| C and D (16, 8) | (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) |

A shape with half the k has the first half of the registers of A and B. With factors of 8 bits, a register holds four
neighbours from 4t on in place of two from 2t on, and the second half of k begins at 16 in place of 8. `tf32` has one
element a register: A (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4), B (t, g), (t + 4, g).

`ldmatrix` gives a lane of each matrix the elements (g, 2t) and (g, 2t + 1), with `.trans` (2t, g) and (2t + 1, g). So a
tile in shared memory with 16 columns is a fragment A by `.x4` if lane l names row `l % 16` from column `l / 16 * 8` on.
A tile of B whose rows are its columns, such as K in S = Q·Kᵀ, is loaded without `.trans`, one whose rows are rows of B,
such as V in O = P·V, with it.
"""


def row_text(row):
    what = row["what"].replace(" * ", " · ")  # two asterisks would be emphasis
    if row["counted"]:
        what += f" Counted with the {row['counted']}."
    return "| {} | {} |".format(f"`{row['syntax']}`".replace("|", r"\|"), what.replace("|", r"\|"))


def page_of(table):
    lines = [HEAD]
    sections = dict.fromkeys(row["section"] for row in table["rows"])
    for section in sections:
        lines += [f"## {section} Instructions", "", "| instruction | what it does |", "|---|---|"]
        lines += [row_text(row) for row in table["rows"] if row["section"] == section]
        lines.append("")
    lines += ["## Special Registers", "", "Read with `mov`: `mov.u32 %0, %%laneid;`", "", "| register | type | |", "|---|---|---|"]
    lines += [f"| `%{known['name']}` | `.{known['type']}` | {known['what']} |" for known in table["registers"]]
    return "\n".join(lines) + "\n"


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True, type=pathlib.Path, help="the program simt-ptx-table")
    parser.add_argument("--check", action="store_true", help="only compare")
    arguments = parser.parse_args()
    table = json.loads(subprocess.run([arguments.table], check=True, capture_output=True, text=True).stdout)
    page = page_of(table)
    if not arguments.check:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == page:
        return 0
    print(f"{PAGE} is not what the table says. Run: scripts/write_ptx_page.py --table {arguments.table}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
