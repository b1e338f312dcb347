"""Whole CUDA programs: host code runs as it is, and each launch goes to the emulator."""
