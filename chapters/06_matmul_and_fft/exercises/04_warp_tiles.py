"""The exercises of "Warp tiles"."""

from __future__ import annotations

from course_utils import ceil_div
from course_utils.exercises.authoring import method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.worked import Worked

from .common import (
    ANY_PRODUCT,
    FEW_OPERANDS,
    chosen,
    matrices,
    no_more_arithmetic,
    product,
    tiles_read_once,
)
from .in_flight import ANY_STEPS, ONE_BLOCK, PAIR, barriers_a_step, prefetched

TWO_BUFFERS = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0], 64)), (64,)),
    small=((69, 70, 19), (33, 5, 16), (1, 1, 1)),
    worked=Worked(whole=("A",)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="barriers an iteration",
        measure=barriers_a_step((64, 64, 96)),
        at_most=1.2,
        advice="With two buffers no thread overwrites what others still read: the store goes into "
        "the buffer that was finished with one iteration ago. One barrier at the end of the "
        "iteration does.",
        size=(64, 64, 96),
    ),
    within=2.0,
    contract=Domain(sizes=chosen(*ANY_STEPS).with_outlier(M=32771, N=32771), values=FEW_OPERANDS),
    method=(
        tiles_read_once(ONE_BLOCK),
        method.shared_memory_limit(
            PAIR * 5 // 2,
            advice="Two buffers, a pair of tiles in each: no more is read or written at a time.",
            size=ONE_BLOCK,
        ),
        Requirement(
            "part of the loads that are in flight while products are made",
            prefetched,
            at_least=0.4,
            advice="Load the next tiles before you multiply these, and store them after: what is "
            "stored at once has to be waited for at once.",
            size=ONE_BLOCK,
        ),
        method.one_store_per_result(),
        method.balanced_work(2.0, size=ONE_BLOCK),
        no_more_arithmetic(ONE_BLOCK),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


TILE = 64, 64, 64  # one block

OWN_GEMM = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0], 64)), (256,)),
    small=((69, 70, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    within=2.0,
    contract=ANY_PRODUCT,
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=TILE),
        tiles_read_once(TILE),
        no_more_arithmetic(TILE),
        Requirement(
            "loads from shared memory per FMA",
            lambda stats: stats.counts.shared_load_requests * 32 / (stats.counts.flops / 2),
            at_most=0.6,
            advice="Let a thread own 4 x 4 results: eight operands in registers serve 16 FMAs.",
            size=TILE,
        ),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)
