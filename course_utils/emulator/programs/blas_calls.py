"""The answers to cuBLAS's functions."""

from __future__ import annotations

import ctypes

import numpy as np

from .blas_functions import FUNCTIONS
from .blas_operands import BlasCall, NotThere, WrongArgument
from .call_state import CallState, Words
from .cuda_errors import CudaStatus
from .host_mistakes import HostMistake
from .refusals import Refused

INVALID_VALUE, NOT_SUPPORTED = 7, 15  # cublasStatus_t


class BlasCalls(CallState):
    """Each call is answered by the method of its name."""

    def _cublas(self, w: Words) -> int:
        """The function whose name, and name in CUDA, come first. The result: a cublasStatus_t."""
        function, name = (ctypes.string_at(word).decode() for word in w[:2])
        self.call = name
        noted = "uninitialised" in self.kernels.options.checks
        call = BlasCall(self.memory, name, w[2:], noted)
        try:
            with np.errstate(all="ignore"):
                FUNCTIONS[function](call)
        except WrongArgument as wrong:
            text = str(wrong)
            self._tell(Refused(CudaStatus.cudaSuccess, HostMistake.INVALID_CALL, text))
            return INVALID_VALUE
        except NotThere as missing:
            self.log.write("note", text=f"{missing}, and that isn't there on the emulator.")
            return NOT_SUPPORTED
        except Refused as refused:  # as a fault of cuBLAS's kernel, which the host sees later
            self._tell(refused)
            self.pending = CudaStatus.cudaErrorIllegalAddress
        for mistake in call.mistakes:
            self._tell(mistake)
        return 0
