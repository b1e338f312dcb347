"""Runs a program that was built, apart from this process and within limits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ..process_groups import MOST_OUTPUT, Ended, GroupLimits, run_group
from .building import PROGRAM

STACK_KB = 8192  # as most systems have it
BLOCK = 512  # bytes: the unit of the shell's `ulimit -f`
LIMITS = GroupLimits(memory=2**30, processes=64, disk=2**27)
ASAN = (
    "color=never:exitcode=99:hard_rss_limit_mb=1024:handle_abort=1:detect_stack_use_after_return=1"
    ":allocator_may_return_null=1:max_allocation_size_mb=1024"
)
ENVIRONMENT = {
    "ASAN_OPTIONS": ASAN,
    "UBSAN_OPTIONS": "color=never:halt_on_error=1:exitcode=99:print_stacktrace=1",
    "LC_ALL": "C",
    "TMPDIR": ".",
    "HOME": ".",
}
# A stack without a limit would grow until memory is full, and no overflow be seen.
STACK = f'[ "$(ulimit -s)" != unlimited ] || ulimit -S -s {STACK_KB}'
COMMAND = ["sh", "-c", f'ulimit -f {MOST_OUTPUT // BLOCK}; ulimit -c 0; {STACK}; exec "$@"', "sh"]


def run_program(
    folder: Path, seconds: float, *, given: str = "", arguments: Iterable[str] = ()
) -> Ended:
    """Run the program in ``folder``, its working folder. ``given`` is its whole standard input.

    Time, memory, processes, output and disk are limited, and its child processes end with it.
    """
    run = partial(
        run_group,
        [*COMMAND, f"./{PROGRAM}", *arguments],
        seconds,
        folder=folder,
        given=given,
        apart=True,
        limits=LIMITS,
    )
    ended = run(environment=ENVIRONMENT)
    if "LeakSanitizer has encountered a fatal error" in ended.errors:  # not possible under ptrace
        ended = run(environment={**ENVIRONMENT, "ASAN_OPTIONS": f"{ASAN}:detect_leaks=0"})
    return ended
