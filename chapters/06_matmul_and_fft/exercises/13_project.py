"""The project of the chapter: a product with a long sum."""

from __future__ import annotations

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, floats
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.worked import Worked

FEATURES = 64
BLOCKS = 4
COUNTED = 300  # rows whose launch is counted

GRAM = KernelExercise(
    inputs=lambda rng, n: {
        "X": floats(rng, (n, FEATURES)),
        "G": np.zeros((FEATURES, FEATURES), np.float32),
        "n": np.int32(n),
    },
    reference=lambda given: {"G": exact_product(given["X"].T, given["X"])},
    launch=lambda n: Launch((BLOCKS if n < 1 << 16 else 264,), (256,)),
    small=(COUNTED, 17, 1),
    full=1 << 19,
    reduction=lambda n: n,
    within=2.0,
    contract=Domain(
        sizes=domain.lengths(most=400),
        launches=domain.grids((1, 256), (3, 256), (7, 256)),
        values=(domain.data("X", *domain.ORDINARY),),
    ),
    method=(
        method.reads_each_once(4 * FEATURES * COUNTED, at_most=1.1, size=COUNTED),
        method.balanced_work(2.0, size=COUNTED),
        method.atomics(
            "global",
            at_most=BLOCKS * FEATURES**2,
            advice="Keep the sums in registers until the block has seen all of its rows.",
            size=COUNTED,
        ),
    ),
    target=Target(
        label="wavefronts of shared loads for 1,000 multiplications",
        measure=lambda counts: 1000 * counts.shared_load_wavefronts / (FEATURES**2 * COUNTED),
        at_most=16,
        advice="How many multiplications does one loaded feature serve? Let a "
        "thread own 4 x 4 sums, and load four features at a time.",
        size=COUNTED,
    ),
    worked=Worked(why_not="a row has 64 features, and the result 4,096 numbers"),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["X"].T, v["X"], out=v["G"])),
)
