"""The page 00/03 has a heading for each message that a reader can meet: its name and its address.

A verdict and a finding have their kind for a heading, an error of CUDA has CUDA's own words.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .errors import SYMPTOMS
from .paths import CHAPTERS, ROOT

PAGE = CHAPTERS / "00_start_here/03_when_it_goes_wrong.ipynb"
LAUNCH = "Launch error"  # the heading of launches that CUDA has no words for
UNDISTURBED = ("pass", "not started")  # kinds of verdict after which there is nothing to look up


class CudaError(NamedTuple):
    """An error as CUDA's runtime has it: its name, and the words that are its heading."""

    name: str
    heading: str


# By their numbers, which the driver's errors share: cudaGetErrorName and cudaGetErrorString.
CUDA_ERRORS = {
    1: CudaError("cudaErrorInvalidValue", "invalid argument"),
    2: CudaError("cudaErrorMemoryAllocation", "out of memory"),
    3: CudaError("cudaErrorInitializationError", "initialization error"),
    4: CudaError("cudaErrorCudartUnloading", "driver shutting down"),
    9: CudaError("cudaErrorInvalidConfiguration", "invalid configuration argument"),
    13: CudaError("cudaErrorInvalidSymbol", "invalid device symbol"),
    17: CudaError("cudaErrorInvalidDevicePointer", "invalid device pointer"),
    20: CudaError("cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"),
    21: CudaError("cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"),
    26: CudaError(
        "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"
    ),
    27: CudaError(
        "cudaErrorInvalidNormSetting", "read as normalized float not supported for data type"
    ),
    35: CudaError(
        "cudaErrorInsufficientDriver",
        "CUDA driver version is insufficient for CUDA runtime version",
    ),
    36: CudaError(
        "cudaErrorCallRequiresNewerDriver",
        "API call is not supported in the installed CUDA driver",
    ),
    46: CudaError(
        "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"
    ),
    65: CudaError(
        "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"
    ),
    98: CudaError("cudaErrorInvalidDeviceFunction", "invalid device function"),
    100: CudaError("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    101: CudaError("cudaErrorInvalidDevice", "invalid device ordinal"),
    200: CudaError("cudaErrorInvalidKernelImage", "device kernel image is invalid"),
    209: CudaError(
        "cudaErrorNoKernelImageForDevice",
        "no kernel image is available for execution on the device",
    ),
    214: CudaError("cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"),
    217: CudaError(
        "cudaErrorPeerAccessUnsupported",
        "peer access is not supported between these two devices",
    ),
    218: CudaError("cudaErrorInvalidPtx", "a PTX JIT compilation failed"),
    222: CudaError(
        "cudaErrorUnsupportedPtxVersion",
        "the provided PTX was compiled with an unsupported toolchain.",
    ),
    301: CudaError("cudaErrorFileNotFound", "file not found"),
    400: CudaError("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    500: CudaError("cudaErrorSymbolNotFound", "named symbol not found"),
    700: CudaError("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    701: CudaError("cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    702: CudaError("cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    704: CudaError("cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"),
    705: CudaError("cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"),
    710: CudaError("cudaErrorAssert", "device-side assert triggered"),
    712: CudaError(
        "cudaErrorHostMemoryAlreadyRegistered",
        "part or all of the requested memory range is already mapped",
    ),
    713: CudaError(
        "cudaErrorHostMemoryNotRegistered",
        "pointer does not correspond to a registered memory region",
    ),
    714: CudaError("cudaErrorHardwareStackError", "hardware stack error"),
    715: CudaError("cudaErrorIllegalInstruction", "an illegal instruction was encountered"),
    716: CudaError("cudaErrorMisalignedAddress", "misaligned address"),
    717: CudaError(
        "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"
    ),
    718: CudaError("cudaErrorInvalidPc", "invalid program counter"),
    719: CudaError("cudaErrorLaunchFailure", "unspecified launch failure"),
    720: CudaError("cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"),
    721: CudaError("cudaErrorTensorMemoryLeak", "tensor memory not completely freed"),
    801: CudaError("cudaErrorNotSupported", "operation not supported"),
    802: CudaError("cudaErrorSystemNotReady", "system not yet initialized"),
    803: CudaError(
        "cudaErrorSystemDriverMismatch",
        "system has unsupported display driver / cuda driver combination",
    ),
    900: CudaError(
        "cudaErrorStreamCaptureUnsupported",
        "operation not permitted when stream is capturing",
    ),
    901: CudaError(
        "cudaErrorStreamCaptureInvalidated",
        "operation failed due to a previous error during capture",
    ),
    903: CudaError(
        "cudaErrorStreamCaptureUnmatched",
        "capture was not ended in the same stream as it began",
    ),
    904: CudaError("cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"),
    906: CudaError(
        "cudaErrorStreamCaptureImplicit",
        "operation would make the legacy stream depend on a capturing blocking stream",
    ),
    910: CudaError(
        "cudaErrorGraphExecUpdateFailure",
        "the graph update was not performed because it included changes which violated constraints "
        "specific to instantiated graph update",
    ),
    912: CudaError(
        "cudaErrorInvalidClusterSize",
        "a kernel launch error has occurred due to cluster misconfiguration",
    ),
    999: CudaError("cudaErrorUnknown", "unknown error"),
}


COMPILE_ERROR = "Compile error"  # the heading of errors that the page has no words for
# The compiler's errors that have a heading of their own, by the words that are in all of them.
COMPILER_ERRORS = {
    'identifier "x" is undefined': r'^identifier ".*" is undefined',
    'expected a ";"': r'^expected a ";"',
    'expected a ")"': r'^expected a "\)"',
    'expected a "}"': r'^expected a "\}"',
    "expected an expression": "^expected an expression",
    "cannot open source file": "^cannot open source file",
    'more than one instance of overloaded function has "C" linkage': "^more than one instance of "
    'overloaded function .* has "C" linkage',
    "no instance of overloaded function matches the argument list": "^no instance of "
    "(overloaded )?function .* matches the argument list",
    "expression must have a constant value": "^expression must have a constant value",
    "expression must be a modifiable lvalue": "^expression must be a modifiable lvalue",
    "expression must have integral or unscoped enum type": "^expression must have integral or "
    "unscoped enum type",
    "expression must have pointer-to-object type": "^expression must have pointer-to-object type",
    "a value of one type cannot be used to initialize an entity of another": "^a value of type .* "
    "cannot be used to initialize an entity of type",
    "too few arguments in function call": "^too few arguments in function call",
    'namespace "std" has no member': '^namespace "std" has no member',
    "a __global__ function must have a void return type": "^a __global__ function must have a "
    "void return type",
    "device-side kernel launch could not be processed": "device-side kernel launch could not be",
    "calling a __host__ function from a __global__ function is not allowed": "^calling a __host__ "
    r"function ?\(.*\) from a __(global|device)__ function ?\(.*\) is not allowed",
}


def of_compiler(message: str) -> str:
    """The heading of an error of the compiler: its own words, or ``Compile error``."""
    found = (title for title, words in COMPILER_ERRORS.items() if re.search(words, message))
    return next(found, COMPILE_ERROR)


def heading(kind: str) -> str:
    """The heading of a kind of verdict or finding: ``Out of bounds``; "" for one without."""
    return "" if kind in UNDISTURBED else kind[:1].upper() + kind[1:]


def anchor(title: str) -> str:
    """The fragment of a heading's address, as JupyterLab and the website form it."""
    return title.replace(" ", "-")


def address(title: str, folder: Path | None = None) -> str:
    """The address of a heading for a page in ``folder``, by default where this process runs, which
    is the notebook's own folder; "" where a relative link can't lead there."""
    if not title or not PAGE.is_file():
        return ""
    own = (folder or Path.cwd()).resolve()
    if not own.is_relative_to(ROOT):
        return ""
    path = Path(os.path.relpath(PAGE, own)).as_posix()
    return f"{quote(path)}#{quote(anchor(title))}"


def link(title: str) -> str:
    """The same as HTML, a line of a panel; "" where it can't lead there."""
    target = address(title)
    if not target:
        return ""
    shown = f"{SYMPTOMS}, {html.escape(title)}"
    return f'<div><b>More:</b> <a href="{html.escape(target)}">{shown}</a></div>'
