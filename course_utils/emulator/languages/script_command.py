"""``run SCRIPT.py``: a Python program whose Triton, Numba and Warp kernels run on the emulator."""

from __future__ import annotations

import argparse
import runpy
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from ..findings.next_steps import next_step
from ..findings.options import ALL_CHECKS, Options
from ..findings.report import KernelFault
from . import split
from .host_arrays import LanguageError
from .numba_launches import numba_on_emulator
from .prepared_launch import Emulation, FindingWarning
from .torch_devices import cuda_is_the_cpu
from .triton_launches import triton_on_emulator
from .warp_launches import warp_on_emulator

LANGUAGES = ("triton", "numba", "warp")


def main(words: Sequence[str]) -> int:
    """Run the program. The status is the program's, or 1 where it is 0 and something was found."""
    own, given = split(words)
    parser = argparse.ArgumentParser(
        prog="run", description=__doc__, epilog="The program's own arguments follow --."
    )
    parser.add_argument("script", type=Path, help="the Python program")
    parser.add_argument("--arch", type=int, default=90, help="compile for sm_ARCH (default: 90)")
    parser.add_argument(
        "--every-config", action="store_true", help="launch every configuration of an autotuner"
    )
    parser.add_argument("--bounds-only", action="store_true", help="leave out the expensive checks")
    parser.add_argument("--patience", type=float, help="seconds after which a launch is ended")
    asked = parser.parse_args(own)
    if not asked.script.is_file():
        parser.error(f"there is no file {asked.script}")
    options = Options(checks=() if asked.bounds_only else ALL_CHECKS, patience=asked.patience)
    text = asked.script.read_text(encoding="utf-8")
    named = [language for language in LANGUAGES if language in text] or LANGUAGES
    installed = [language for language in named if find_spec(language)]
    if not installed:
        parser.error(f"it needs {' or '.join(named)}, and none of them is installed")
    sys.argv = [str(asked.script), *given]
    sys.path.insert(0, str(asked.script.parent.resolve()))
    with ExitStack() as stack:
        emulations = []
        if "triton" in installed:
            opened = triton_on_emulator(
                asked.arch, options=options, every_config=asked.every_config
            )
            emulations.append(stack.enter_context(opened))
        if "numba" in installed:
            emulations.append(stack.enter_context(numba_on_emulator(asked.arch, options=options)))
        if "warp" in installed:
            emulations.append(stack.enter_context(warp_on_emulator(asked.arch, options=options)))
        if "torch" in text and find_spec("torch"):
            __import__("torch")
            stack.enter_context(cuda_is_the_cpu())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", FindingWarning)
        return _ran(asked.script, emulations)


def _ran(script: Path, emulations: list[Emulation]) -> int:
    status, faults = 0, 0
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KernelFault as fault:
        faults = 1
        for finding in (*fault.earlier, fault.finding):
            print(finding.message, file=sys.stderr)
        print(f"next: {next_step(fault.finding)}", file=sys.stderr)
    except LanguageError as error:
        print(error, file=sys.stderr)
        status = 2
    launches = sum(len(emulation.launches) for emulation in emulations)
    found = faults + sum(len(emulation.findings) for emulation in emulations)
    print(
        f"{launches} {'launch' if launches == 1 else 'launches'} on the emulator, "
        f"{found or 'no'} {'finding' if found == 1 else 'findings'}.",
        file=sys.stderr,
    )
    return status or int(found > 0)
