"""The course's kernels beside libraries, and what a GPU's memories and arithmetic can do.

``python -m course_utils bench`` (:mod:`.cli`) measures all of it on a GPU; on the emulator it says
how fast that runs. Each chapter has its cases below :mod:`.cases`; :data:`.producers.PRODUCERS`
make the other files of ``assets/benchmarks``.
"""

from .case import Case, KernelCall, Work
from .cases import CASES

__all__ = ["CASES", "Case", "KernelCall", "Work"]
