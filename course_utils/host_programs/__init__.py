"""C and C++ on the CPU: built with warnings and sanitizers, run where nothing can be harmed.

`host_kinds` names the faults, `building` calls the compiler, `running` the program, and
`faults` reads the cause of its end. `program_cells` holds ``%%c`` and ``%%cpp``. The exercises
build and run in the same way. `cuda_cells` holds ``%%cuda``: whole CUDA programs, on a GPU or the
emulator.
"""
