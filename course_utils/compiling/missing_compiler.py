"""The error where CUDA's run-time compiler cannot be loaded."""

from __future__ import annotations

from ..errors import LessonError
from ..remedies import set_up_command


class CompilerMissing(LessonError, RuntimeError):
    """CUDA's run-time compiler (NVRTC) cannot be loaded, so no kernel can be compiled."""

    def __init__(self, why: object):
        super().__init__(
            "CUDA's run-time compiler (NVRTC) cannot be loaded, so no kernel can be compiled.\n"
            f"`{set_up_command()}` installs it, and `python -m course_utils doctor` says more. "
            f"({why})"
        )
