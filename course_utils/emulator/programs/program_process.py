"""The process that a program runs in: its host code, our runtime and the emulator together.

``python -m …program_process FACTS.json -- ARGUMENTS`` reads the facts of a :class:`ProgramRun`.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from ..findings.options import ALL_CHECKS, Options
from .host_lines import HostLines
from .host_mistakes import ProgramLog
from .program_launches import ProgramKernels
from .runtime_calls import RuntimeCalls


@dataclass(frozen=True)
class ProgramRun:
    """The facts that the process needs.

    ``log`` is the file of its events. ``checks`` says whether every check is on. ``patience`` is
    the limit of a launch in seconds.
    """

    library: str
    stand_in: str
    log: str
    name: str
    missing: str | None = None
    foreign: tuple[str, ...] = ()
    checks: bool = True
    patience: float | None = None

    def write(self, path: Path) -> None:
        """Store the facts as JSON."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> ProgramRun:
        """The facts that :meth:`write` stored."""
        facts = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**facts, "foreign": tuple(facts["foreign"])})


def main(words: list[str]) -> int:
    """Run the program's ``main`` with the arguments after ``--``, and return its status."""
    run, arguments = ProgramRun.read(Path(words[0])), words[2:]
    libc = ctypes.CDLL(None)
    with open(run.log, "a", encoding="utf-8") as out:
        log = ProgramLog(out)
        options = Options(checks=ALL_CHECKS if run.checks else frozenset(), patience=run.patience)
        library = ctypes.CDLL(run.stand_in, mode=ctypes.RTLD_GLOBAL)
        kernels = ProgramKernels(log, options, lambda: libc.fflush(None))
        calls = RuntimeCalls(library, kernels, HostLines(Path(run.library), run.foreign), log)

        def answer(
            name: bytes, stream: int, count: int, given: ctypes._Pointer[ctypes.c_longlong]
        ) -> int:
            try:
                return calls.answer(name.decode(), given[:count], stream)
            except BaseException as error:  # a mistake of ours, or Ctrl-C: no way back through C
                if isinstance(error, KeyboardInterrupt):
                    os._exit(130)
                sys.excepthook(type(error), error, error.__traceback__)
                os._exit(3)

        form = ctypes.CFUNCTYPE(
            ctypes.c_longlong,
            ctypes.c_char_p,
            ctypes.c_longlong,
            ctypes.c_int,
            ctypes.POINTER(ctypes.c_longlong),
        )
        kept = form(answer)
        library.emulator_begin(kept)
        if run.missing:
            ctypes.CDLL(run.missing, mode=ctypes.RTLD_GLOBAL)
        program = ctypes.CDLL(run.library, mode=ctypes.RTLD_GLOBAL | os.RTLD_LAZY)
        texts = [os.fsencode(word) for word in (run.name, *arguments)]
        table = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
        status = int(program.main(len(texts), table))
        libc.exit(status)  # runs the program's destructors, then our runtime's at_end
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
