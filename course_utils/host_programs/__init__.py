"""C and C++ on the CPU: built with warnings and sanitizers, run where nothing can be harmed.

`host_kinds` names what can go wrong, `building` calls the compiler, `running` the program, and
`faults` reads what stopped it; `program_cells` holds ``%%c`` and ``%%cpp``. The exercises build and
run in the same way. `cuda_cells` holds ``%%cuda``: whole CUDA programs, on a GPU or the emulator.
"""
