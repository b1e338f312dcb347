"""``python -m course_utils.emulator FILE.cu``, or ``python -m cuda_emulator FILE.ptx`` where this
package is installed by itself. Both run a whole program with ``run PROGRAM.cu``, and
a Python program that launches kernels with ``run SCRIPT.py``.

The course's command (:mod:`course_utils.kernel_tool.command`) also knows a kernel's C++ signature.
"""

import sys

if sys.argv[1:2] == ["run"]:
    from .languages import is_script

    if is_script(sys.argv[2:]):
        from .languages.script_command import main as run
    else:
        from .programs.run_command import main as run

    sys.exit(run(sys.argv[2:]))
if __package__ == "course_utils.emulator":
    from course_utils.kernel_tool.command import main
else:
    from .command_line import main

sys.exit(main())
