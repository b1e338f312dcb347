"""CUDA C++ to PTX or to a cubin, with NVRTC; errors that a reader understands."""
