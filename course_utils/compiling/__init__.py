"""CUDA C++ to PTX or to a cubin, with NVRTC and with errors that a reader understands."""
