"""``python -m course_utils.emulator FILE.cu``: run a kernel with no GPU, under every check."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..compiling.device_functions import why_no_kernel
from ..emulator import KernelFault
from ..errors import LessonError, in_full
from ..launching.kernels import Kernel
from ..launching.modules import load
from ..observing.profiling import profile
from ..observing.sanitizing import sanitize
from ..stepping.stepped_launch import step_kernel
from .launch_values import FORMS, arguments, extents

EXAMPLE = """\
example:
  python -m course_utils.emulator saxpy.cu --grid 4 --block 256 \\
      --args "a=2.5" "x=random(1000)" "y=ones(1000)" "n=1000"

exit status: 0 where nothing was found, 1 where something was, 2 where the launch could not be made
"""


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m course_utils.emulator",
        description="Run a CUDA kernel on the emulator, under every check of the sanitizer.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("file", metavar="FILE", help="CUDA C++; no host code in it")
    made.add_argument("--kernel", help="its name, or a template's instance: 'scale<float>'")
    made.add_argument("--grid", default="1", metavar="X[,Y[,Z]]", help="blocks (1)")
    made.add_argument("--block", default="32", metavar="X[,Y[,Z]]", help="threads of a block (32)")
    made.add_argument(
        "--args",
        nargs="*",
        default=[],
        metavar="WORD",
        help=f"one a parameter, or name=word: {FORMS}",
    )
    made.add_argument(
        "--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory"
    )
    made.add_argument(
        "--define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro"
    )
    made.add_argument("--arch", help="such as sm_100a (sm_90a)")
    made.add_argument(
        "--cooperative", action="store_true", help="for a kernel that waits for its whole grid"
    )
    made.add_argument(
        "--optimised-only",
        action="store_true",
        help="no second run with -G, which finds code that the optimiser removed",
    )
    made.add_argument("--seed", type=int, default=0, help="of random(...) (0)")
    made.add_argument(
        "--profile", action="store_true", help="count the launch, and name the bad numbers"
    )
    made.add_argument(
        "--step", type=Path, metavar="FILE.html", help="record a small launch line by line"
    )
    made.add_argument("--save", type=Path, metavar="FILE.npz", help="store the arrays afterwards")
    return made


def main(words: list[str] | None = None) -> int:
    """Run what the command line asks for; return the exit status."""
    asked = parser().parse_args(words)
    try:
        return _run(asked)
    except (LessonError, KernelFault) as error:
        print(in_full(error), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. A smaller grid takes the emulator less time.", file=sys.stderr)
        return 130


def kernel_in(
    path: str | Path,
    name: str | None = None,
    defines: dict[str, Any] | None = None,
    arch: str | None = None,
    cooperative: bool = False,
) -> Kernel:
    """The kernel ``name`` of a file, or its only one, for the emulator.

    ``name`` may be a template's instance. ``cooperative``: its launches may wait for the whole
    grid. Raises LessonError where there is no such file or kernel
    or the file is not UTF-8, and CompileError where NVRTC refuses the source.
    """
    path = Path(path)
    if not path.is_file():  # `load` would look in the course's own folder too
        raise LessonError(f"There is no file {str(path)!r}.")
    names = [name] if name and "<" in name else []
    module = load(
        path.absolute(),
        names=names,
        defines=defines,
        arch=arch,
        cooperative=cooperative,
        device="emulator",
    )
    if name is None:
        found = [kernel.name for kernel in module]
        if len(found) != 1:
            if found:
                raise LessonError(f"{path.name} has the kernels {', '.join(found)}: say which.")
            raise LessonError(f"{path.name} has no kernel. {why_no_kernel(module.source)}")
        return module.kernel
    try:
        return module[name]
    except AttributeError as error:
        raise LessonError(str(error)) from None


def _run(asked: argparse.Namespace) -> int:
    if asked.seed < 0:
        raise LessonError(f"--seed is a whole number from 0 on; got {asked.seed}.")
    for option, file in (("--save", asked.save), ("--step", asked.step)):
        if file and not file.parent.is_dir():  # said before the launch, which may take long
            raise LessonError(f"{option}: there is no folder {str(file.parent)!r}.")
    defines = dict((*word.split("=", 1), 1)[:2] for word in asked.define)
    kernel = kernel_in(asked.file, asked.kernel, defines, asked.arch, asked.cooperative)
    launch = extents(asked.grid), extents(asked.block)
    values = arguments(asked.args, kernel.signature, asked.seed)
    given = {name: value.copy() for name, value in values.items() if hasattr(value, "copy")}
    report = sanitize(
        kernel,
        *launch,
        tuple(values.values()),
        shared_mem=asked.shared,
        optimised_only=asked.optimised_only,
    )
    if report.printed:
        print(report.printed, end="")
    print(report)
    for name, before in given.items():
        if not np.array_equal(before.get().view(np.uint8), values[name].get().view(np.uint8)):
            print(f"\n{name} = {_shown(values[name].get())}")
    if asked.save:
        np.savez(asked.save, **{name: values[name].get() for name in given})
    if asked.step:
        copies = (given[name].copy() if name in given else value for name, value in values.items())
        steps = step_kernel(kernel, *launch, tuple(copies), shared_mem=asked.shared)
        print(f"\n{len(steps.steps)} steps: open {steps.save(asked.step)} in a browser.")
    if asked.profile and not report.errors:
        again = tuple(given.get(name, value) for name, value in values.items())
        counted = profile(kernel, *launch, again, shared_mem=asked.shared)
        print("\n".join(["", str(counted), *counted.advice]))
    return 0 if report.clean else 1


def _shown(array: np.ndarray) -> str:
    text = np.array2string(array, precision=5, threshold=16, edgeitems=4)
    return f"{text}  ({' × '.join(map(str, array.shape))} {array.dtype})"
