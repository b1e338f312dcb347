"""Says what to do where a cell needs the course and its notebook's first code cell hasn't run yet.

IPython runs this file in the namespace of every new kernel: `make learn` names it in PYTHONSTARTUP,
and pip puts it into the environment's ``etc/ipython/startup``, where VS Code's kernels find it. So
it leaves no name behind, imports nothing of the course, and does nothing outside of the course.
"""


def _watch_new_kernel() -> None:
    import os
    import sys
    from typing import Any

    def in_the_course() -> bool:
        folder = os.getcwd()
        while folder != os.path.dirname(folder):
            if os.path.isfile(os.path.join(folder, "course_utils", "before_first_cell.py")):
                return True
            folder = os.path.dirname(folder)
        return False

    advice = (
        "Run this notebook's first code cell, the one with `from course_utils import`, "
        "then this cell again."
    )

    class FirstCellMissing(Exception):
        def _render_traceback_(self) -> list[str]:
            return [advice]

    def magic(line: str, cell: str | None = None) -> None:
        raise FirstCellMissing(advice)

    def after_cell(result: Any) -> None:
        if "course_utils" in sys.modules:  # the first code cell has run
            shell.events.unregister("post_run_cell", after_cell)
        elif isinstance(result.error_in_exec, NameError):
            print(advice)

    ipython = sys.modules.get("IPython")  # none where a terminal's Python reads PYTHONSTARTUP
    shell: Any = ipython and ipython.get_ipython()
    magics = ("exercise", "report", "needs", "c", "cpp", "cuda")  # the real ones take their places
    if not hasattr(shell, "kernel") or shell.find_cell_magic(magics[0]) or not in_the_course():
        return
    for name in magics:
        shell.register_magic_function(magic, "cell", name)
    shell.events.register("post_run_cell", after_cell)


try:
    _watch_new_kernel()
except Exception:  # a kernel starts, whatever is wrong here
    pass
finally:
    del _watch_new_kernel
