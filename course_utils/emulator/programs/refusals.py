"""A call of the CUDA runtime that is refused."""

from __future__ import annotations

from .cuda_errors import CudaStatus
from .host_mistakes import HostMistake


class Refused(Exception):
    """A call that CUDA answers with ``error``. ``mistake``, with the message, where it is one."""

    def __init__(
        self,
        error: CudaStatus,
        mistake: HostMistake | None = None,
        message: str = "",
        size: int = 0,
    ) -> None:
        super().__init__(message)
        self.error, self.mistake, self.message, self.bytes = error, mistake, message, size
