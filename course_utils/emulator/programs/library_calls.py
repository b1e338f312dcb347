"""The answers to functions of cuBLAS, cuFFT and cuSPARSE."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from .blas_functions import FUNCTIONS
from .call_state import CallState, Words
from .cuda_errors import CudaStatus
from .fft_functions import transform
from .host_mistakes import HostMistake
from .library_operands import LibraryCall, NotThere, WrongArgument
from .refusals import Refused
from .sparse_functions import product

OF_BLAS, OF_SPARSE = (7, 15), (3, 10)  # the statuses INVALID_VALUE and NOT_SUPPORTED


class LibraryCalls(CallState):
    """Each call is answered by the method of its name."""

    def _cublas(self, w: Words) -> int:
        """The function whose name, and name in CUDA, come first. The result: a cublasStatus_t."""
        return self._library(FUNCTIONS[ctypes.string_at(w[0]).decode()], w[1:], OF_BLAS)

    def _cufft(self, w: Words) -> int:
        """A transform, whose name in CUDA comes first. The result: a cufftResult."""
        return self._library(transform, w, OF_BLAS)

    def _cusparse(self, w: Words) -> int:
        """A product, whose name in CUDA comes first. The result: a cusparseStatus_t."""
        return self._library(product, w, OF_SPARSE)

    def _library(
        self, function: Callable[[LibraryCall], None], w: Words, statuses: tuple[int, int]
    ) -> int:
        self.call = ctypes.string_at(w[0]).decode()
        noted = "uninitialised" in self.kernels.options.checks
        call = LibraryCall(self.memory, self.call, w[1:], noted)
        try:
            with np.errstate(all="ignore"):
                function(call)
        except WrongArgument as wrong:
            text = str(wrong)
            self._tell(Refused(CudaStatus.cudaSuccess, HostMistake.INVALID_CALL, text))
            return statuses[0]
        except NotThere as missing:
            self.log.write("note", text=f"{missing}, and that isn't there on the emulator.")
            return statuses[1]
        except Refused as refused:  # as a fault of the library's kernel, which the host sees later
            self._tell(refused)
            self.pending = CudaStatus.cudaErrorIllegalAddress
        for mistake in call.mistakes:
            self._tell(mistake)
        return 0
