"""The algebra of layouts in CUTLASS's Python DSL, and the layouts that the product is made of.

Each line is an operation, what it is applied to, and what comes out, between bars. Everything here
is known before any kernel runs, so it asks for no GPU.
"""

import runpy
from pathlib import Path

import cutlass.cute as cute

GEMM = runpy.run_path(str(Path(__file__).with_name("gemm_bf16_dsl.py")))


@cute.jit
def show():
    """Print the lines."""
    layout = cute.make_layout
    gaps = layout((2, (1, 6)), stride=(1, (6, 2)))
    print(f"coalesce | {gaps} | {cute.coalesce(gaps)}")
    rows, tile = layout((6, 2), stride=(8, 2)), layout((4, 3), stride=(3, 1))
    print(f"composition | {rows} | {tile} | {cute.composition(rows, tile)}")
    some = layout((2, 2), stride=(1, 6))
    print(f"complement | {some} | 24 | {cute.complement(some, 24)}")
    line, every_third = layout(24, stride=2), layout(4, stride=3)
    print(f"logical_divide | {line} | {every_third} | {cute.logical_divide(line, every_third)}")
    block, repeated = layout((2, 5), stride=(5, 1)), layout((3, 4))
    print(f"blocked_product | {block} | {repeated} | {cute.blocked_product(block, repeated)}")
    print(f"raked_product | {block} | {repeated} | {cute.raked_product(block, repeated)}")
    by_rows = layout((4, 8), stride=(8, 1))
    print(f"right_inverse | {by_rows} | {cute.right_inverse(by_rows)}")
    print(f"left_inverse | {by_rows} | {cute.left_inverse(by_rows)}")

    plan = GEMM["Plan"]()
    mma, copier = GEMM["mma_of"](plan), GEMM["copier_of"](plan)
    print(f"sums of a thread | {mma.tv_layout_C_tiled}")
    print(f"pieces of a thread | {copier.layout_tv_tiled}")
    print(f"stages of A | {GEMM['ring'](plan.BM, plan)}")
