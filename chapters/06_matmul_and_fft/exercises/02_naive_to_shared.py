"""The exercises of "Matmul: from naive to shared memory"."""

from __future__ import annotations

from course_utils import ceil_div
from course_utils.exercises.authoring import method
from course_utils.exercises.authoring.launches import Launch
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import KernelExercise, Target

from .common import ANY_PRODUCT, matrices, product

COALESCED_MATMUL = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (1024,)),
    small=((37, 45, 19), (33, 5, 7), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="sectors per global load",
        measure=lambda counts: counts.global_load_sectors / max(counts.global_load_requests, 1),
        at_most=3.0,
        advice="Which of row and column should change from one threadIdx.x to the next? In C's "
        "memory, the neighbour on the right is next door; the one below is N elements away.",
        size=(32, 32, 32),
    ),
    within=2.0,
    contract=ANY_PRODUCT,
    method=(
        method.one_store_per_result(),
        method.a_thread_each(size=(32, 32, 32)),
        method.balanced_work(2.0, size=(32, 32, 32)),
        # Useless loads of one sector make the average better, and the kernel slower.
        Requirement(
            "sectors read from global memory, over the elements of C",
            lambda stats: stats.counts.global_load_sectors / stats.results,
            at_most=10,
            advice="The loads of A and B shall touch fewer sectors; other loads are no help.",
            size=(32, 32, 32),
        ),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


TILED_MATMUL = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 16), ceil_div(size[0], 16)), (16, 16)),
    small=((37, 21, 35), (16, 32, 16), (5, 1, 33), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="global loads per FMA",
        measure=lambda counts: counts.global_load_requests * 32 / 32**3,
        at_most=0.2,
        advice="The inner loop still reads global memory: let it read the "
        "tiles, which hold what the whole block has loaded.",
        size=(32, 32, 32),
    ),
    contract=ANY_PRODUCT,
    method=(
        method.one_store_per_result(),
        method.balanced_loads(size=(32, 32, 32)),
        method.balanced_work(1.6, size=(32, 32, 32)),
        # Half of a solution's bytes are those of one of the two matrices.
        method.shared_memory(
            12_288,
            advice="Both tiles, of A and of B, belong into shared memory.",
            size=(32, 32, 32),
        ),
    ),
)


REVIEW_PRODUCT = review(
    {7: "exit", 11: "bounds", 13: "race", 15: "stride"},  # test_reviewed_product.py proves it
    example='{6: "uncoalesced"}',
    start="Follow one block through the loop with m = 33, n = 40 and k = 50: which element of a "
    "tile does each thread store, and when is it read?",
)
