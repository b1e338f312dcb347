"""Builds the C++ part, and the CUDA part where PyTorch has CUDA and there is an nvcc.

Without the flag below pip would build in an empty environment, with a PyTorch of its own choice
from the index. This builds with the one that is installed:

    pip wheel --no-build-isolation --no-deps .
"""

import os

import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

CUDA = torch.version.cuda is not None and CUDA_HOME is not None and os.getenv("CPU_ONLY") != "1"
FLAGS = [
    "-O3",
    "-DTORCH_TARGET_VERSION=0x020a000000000000",  # nothing newer than PyTorch 2.10
    "-DPy_LIMITED_API=0x030b0000",  # nothing of Python but what 3.11 and later have in common
]
options = {
    "name": "course_polynomial._C",
    "sources": ["csrc/polynomial.cpp"],
    "extra_compile_args": {"cxx": FLAGS},
    "py_limited_api": True,
}
if CUDA:
    options["sources"] += ["csrc/polynomial_cuda.cu"]  # polynomial.o is the other one's
    options["extra_compile_args"]["nvcc"] = [*FLAGS, "-DUSE_CUDA"]
    extension = CUDAExtension(**options)
else:
    extension = CppExtension(**options)

setup(
    ext_modules=[extension],
    cmdclass={"build_ext": BuildExtension},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
