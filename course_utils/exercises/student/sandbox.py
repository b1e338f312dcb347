"""A command of the course again, in a sandbox: students' code sees no network and changes no file.

The sandbox is bubblewrap's ``bwrap``. In it every file system is read-only but an empty ``/tmp``
and the files that the command writes, and no process outlives the command.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ...paths import ROOT

INSIDE = "COURSE_IN_SANDBOX"
ABSENT = (
    "Graded without a sandbox, since bubblewrap isn't installed. TEACHING.md has the consequences."
)
UNABLE = "Graded without a sandbox: bubblewrap is installed, but can't make one here."


def status_inside(words: Sequence[str], reads: Sequence[Path], writes: Sequence[Path]) -> int | str:
    """The exit status of ``python -m course_utils WORDS`` in a sandbox, or the sentence
    that says why there is none.

    ``reads`` stay visible if they are below ``/tmp``. The command may write the files
    in ``writes``, which are created if they don't exist yet.
    """
    if (program := shutil.which("bwrap")) is None:
        return ABSENT
    sandbox = [
        program,
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
    ]
    sandbox += ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent"]
    sandbox += ["--new-session"]
    if subprocess.run([*sandbox, "true"], capture_output=True).returncode:
        return UNABLE
    for path in (Path.cwd(), ROOT, Path(sys.prefix), *(path.resolve() for path in reads)):
        if path.is_relative_to("/tmp"):
            sandbox += ["--ro-bind", str(path), str(path)]
    for file in writes:
        file.touch()
        sandbox += ["--bind", str(file.resolve()), str(file.resolve())]
    environment = os.environ | {INSIDE: "1", "XDG_CACHE_HOME": "/tmp", "COURSE_DEVICE": "emulator"}
    command = [*sandbox, sys.executable, "-m", "course_utils", *words]
    return subprocess.run(command, env=environment).returncode


def is_inside() -> bool:
    """Whether this process runs in a sandbox already."""
    return INSIDE in os.environ
