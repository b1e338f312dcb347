"""NVRTC's own calls: loaded once, their status checked, their text read.

Run as a program this file compiles the requests on its standard input, one request after the
other: that is the process in which :mod:`.compiler_process` lets all kernels be compiled. It
imports nothing of the course, and so starts quickly.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import select
import signal
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any

MEMORY = 8 * 2**30  # bytes of address space: a macro that doubles itself stops there
PRECOMPILING = (12, 8)  # NVRTC's first version with precompiled headers
HEADERS_MEMORY = 2**30  # bytes of address space for them: CuTe's take 0.3 GB
SLOW = 0.3  # seconds of the processor, from which on a source's headers are worth keeping
MOST_KEPT = 6  # sets of headers, each in a file of 0.1 to 0.3 GB
VERY_SLOW = 0.1  # seconds of the processor, from which on an answer is worth its own file
MOST_ANSWERS = 4000  # such files, each of 2 to 150 KB: more than all tests and notebooks make
UNFIT = re.compile("precompiled header|catastrophic error")  # so they could not be used
ENDS_BEFORE_LINES = 20283  # NVRTC's remark that no #line directive can be precompiled
Beginning = tuple[str, ...]  # the first includes of a source, their folder, and the flags
FOLDER = re.compile(r"(?:-I|--include-path)=?")
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)
NAMED = re.compile(r'^[ \t]*#[ \t]*line[ \t]+\d+[ \t]+"([^"\n]*)"', re.M)
DEBUG_INFORMATION = {"-G", "--device-debug"}
# The lines that a source may begin with before its first own one.
BEGINNING = re.compile(
    r'[ \t]*(?:#line (?P<number>\d+) (?P<name>"[^\n]*")'
    r'|(?P<include>#[ \t]*include[ \t]*(?:<[^>\n]+>|"[^"\n]+"))[ \t]*(?://[^\n]*)?'
    r"|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)?[ \t]*\n"
)
# Between requests and answers of the compiling process, one pickled dictionary each.
UNAVAILABLE, REFUSED, LOG, CODE, MANGLED = "unavailable", "refused", "log", "code", "mangled"


@cache
def nvrtc_version() -> tuple[int, int]:
    """NVRTC's version, such as ``(12, 9)``."""
    major, minor = ask(binding().nvrtcVersion(), many=True)
    return major, minor


def binding() -> Any:
    """The module of NVRTC's calls. Raises CompilerMissing, a RuntimeError with the remedy, where it
    cannot be loaded."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:
        if not __package__:  # run as a program
            raise RuntimeError(str(error)) from None
        from .missing_compiler import CompilerMissing

        raise CompilerMissing(error) from None
    return nvrtc


def ask(answer: tuple[Any, ...], *, many: bool = False) -> Any:
    """The value of an NVRTC call that succeeds for good input. Raises RuntimeError if it failed."""
    status, *values = answer
    if int(status):
        raise RuntimeError(f"NVRTC refused a call: {status.name}")
    if many:
        return values
    return values[0] if values else None


def read_text(size_of: Any, read: Any, program: Any) -> bytes:
    """The bytes that ``read`` writes into a buffer of the size that ``size_of`` gives."""
    # Never bytes: CPython has one b" " for all, and NVRTC would write into it.
    buffer = bytearray(ask(size_of(program)))
    ask(read(program, buffer))
    return bytes(buffer)


def compile_program(
    text: str, filename: str, flags: list[str], names: list[str], cubin: bool
) -> dict[str, Any]:
    """NVRTC's answer: its log, whether it refused, the code and the mangled names."""
    nvrtc = binding()
    program = ask(nvrtc.nvrtcCreateProgram(text.encode(), filename.encode(), 0, [], []))
    try:
        for name in names:
            ask(nvrtc.nvrtcAddNameExpression(program, name.encode()))
        (status,) = nvrtc.nvrtcCompileProgram(
            program, len(flags), [flag.encode() for flag in flags]
        )
        said = read_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        log = said.decode("utf-8", "replace").strip("\0 \n")
        if int(status):
            return {REFUSED: True, LOG: log}
        mangled = {
            name: ask(nvrtc.nvrtcGetLoweredName(program, name.encode())).decode() for name in names
        }
        calls = (
            (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
            if cubin
            else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        )
        code = read_text(*calls, program)
        return {REFUSED: False, LOG: log, CODE: code, MANGLED: mangled}
    finally:
        nvrtc.nvrtcDestroyProgram(program)


class KeptAnswers:
    """Compiles as ``compile`` does, and keeps slow answers for the next process, on disk.

    A product made of CuTe's templates takes tens of seconds, each time its notebook is opened. An
    answer serves the same request with the same compiler, as long as no file that the source
    includes has changed. A test in the root of the repository and a notebook in its own folder
    share an answer, unless a name means another file in each: PTX only names the folder.
    """

    def __init__(self, compile: Callable[..., dict[str, Any]], folder: str | None = None) -> None:
        self._compile = compile
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self._folder = folder or os.path.join(caches, "cuda-course", "compiled")

    def compile(self, **request: Any) -> dict[str, Any]:
        """The answer of :func:`compile_program` to the same request."""
        asked = repr((nvrtc_version(), sorted(request.items())))
        file = os.path.join(self._folder, hashlib.sha256(asked.encode()).hexdigest())
        with suppress(Exception):  # there is none, or no whole one
            with open(file, "rb") as kept:
                read, folder, answer = pickle.loads(zlib.decompress(kept.read()))
            if read == stamps(read) and (found := _moved(answer, folder, request, read)):
                return found
        start = time.process_time()
        answer = self._compile(**request)
        if time.process_time() - start > VERY_SLOW and not answer[REFUSED]:
            with suppress(OSError):  # no room, or no right to write there
                self._keep(file, stamps(included(request["text"], request["flags"])), answer)
        return answer

    def _keep(self, file: str, read: dict[str, tuple[int, int]], answer: dict[str, Any]) -> None:
        os.makedirs(self._folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as half:
            half.write(zlib.compress(pickle.dumps((read, os.getcwd(), answer)), 1))
        os.replace(half.name, file)  # at once: another process may look for it
        if len(os.listdir(self._folder)) > MOST_ANSWERS:
            kept = sorted(os.scandir(self._folder), key=lambda each: each.stat().st_mtime)
            for oldest in kept[: MOST_ANSWERS // 10 or 1]:  # many at once: to look costs more
                os.unlink(oldest.path)


def _moved(
    answer: dict[str, Any], folder: str, request: dict[str, Any], read: Iterable[str]
) -> dict[str, Any] | None:
    """The ``answer`` given in ``folder`` as it is in this one, None where it could be another:
    there ``read`` were the files that the source includes."""
    here = os.getcwd()
    if folder == here:
        return answer
    if request["cubin"] or DEBUG_INFORMATION & {*request["flags"]}:
        return None  # the folder is spelled in bytes there
    if not all(map(os.path.isabs, read)) or included(request["text"], request["flags"]) != {*read}:
        return None
    names = {request["filename"], *NAMED.findall(request["text"])}
    if any(not text.isascii() or "\\" in text for text in (folder, here, *names)):
        return None  # PTX spells them another way
    code = answer[CODE]
    for name in names:
        paths = (os.path.join(there, name) for there in (folder, here))
        old, new = (f' "{path}"'.encode() for path in paths)
        code = code.replace(old, new)
    return {**answer, CODE: code}


class KeptHeaders:
    """Compiles as :func:`compile_program` does, and keeps headers precompiled.

    Those of CuTe take two seconds and those of ``cuda::barrier`` one, whatever follows them, and a
    source is compiled again after each change. So the headers of a slow source are kept as soon as
    another one begins alike.
    """

    def __init__(self) -> None:
        self._slow: set[Beginning] = set()  # of sources that were slow
        self._kept: dict[Beginning, Precompiled] = {}

    def compile(
        self, text: str, filename: str, flags: list[str], names: list[str], cubin: bool
    ) -> dict[str, Any]:
        """The answer of :func:`compile_program` to the same request."""
        headers, rest = parted_at_headers(text)
        beginning = (headers, os.getcwd(), *flags)
        if beginning in self._slow and (use := self._precompiled(beginning, headers, flags)):
            answer = compile_program(headers + rest, filename, [*flags, *use], names, cubin)
            if not UNFIT.search(answer[LOG]):
                return answer
        start = time.process_time()
        answer = compile_program(text, filename, flags, names, cubin)
        slow = time.process_time() - start > SLOW
        if slow and headers and nvrtc_version() >= PRECOMPILING:
            self._slow.add(beginning)
        return answer

    def _precompiled(self, beginning: Beginning, headers: str, flags: list[str]) -> list[str]:
        """The flags that use the precompiled form of these headers, which is made if need be."""
        kept = self._kept.get(beginning)
        if kept is None or kept.read != stamps(kept.read):  # NVRTC does not look at that
            if kept is not None or len(self._kept) == MOST_KEPT:
                self._kept.pop(beginning if kept else next(iter(self._kept))).close()
            kept = self._kept[beginning] = Precompiled(headers, flags)
        return kept.flags


class Precompiled:
    """Headers in an open file that has no name any more: it goes with this process."""

    def __init__(self, headers: str, flags: list[str]):
        self.read = stamps(included(headers, flags))
        self.flags: list[str] = []  # that use it, none where it could not be made
        self._file: int | None = None
        common = ["--pch-messages=false", f"--diag-suppress={ENDS_BEFORE_LINES}"]
        with suppress(OSError), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "headers.pch")
            compile_program(headers, "", [*flags, *common, f"--create-pch={path}"], [], False)
            self._file = os.open(path, os.O_RDONLY)
            self.flags = [*common, f"--use-pch=/proc/self/fd/{self._file}"]

    def close(self) -> None:
        """Free the file of precompiled headers."""
        if self._file is not None:
            os.close(self._file)


def included(text: str, flags: list[str]) -> set[str]:
    """The files that ``text`` may include, directly or not."""
    folders = []
    for flag, after in zip(flags, [*flags[1:], ""], strict=True):
        if (option := FOLDER.match(flag)) is not None:
            folders.append(flag[option.end() :] or after)
    found: set[str] = set()
    waiting = [(".", text)]
    while waiting:
        here, text = waiting.pop()
        for name in INCLUDED.findall(text):
            paths = (os.path.join(folder, name) for folder in (here, *folders))
            path = next(filter(os.path.isfile, paths), None)
            if path is not None and path not in found:
                found.add(path)
                with open(path, encoding="utf-8", errors="replace") as file:
                    waiting.append((os.path.dirname(path), file.read()))
    return found


def stamps(paths: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The time and the length of each of the files that still exist."""
    found = {}
    for path in paths:
        with suppress(OSError):
            state = os.stat(path)
            found[path] = (state.st_mtime_ns, state.st_size)
    return found


def parted_at_headers(text: str) -> tuple[str, str]:
    """The includes at the beginning of a source, up to where precompiled headers end, and the rest
    of it, whose lines keep their numbers. Without any it's "" and the source."""
    included, position = [], 0
    number, name = 1, ""
    while (item := BEGINNING.match(text, position)) and "\\\n" not in item[0]:
        position = item.end()
        if item["include"]:
            included.append(item["include"].strip())
        if item["number"]:
            number, name = int(item["number"]), f" {item['name']}"
        else:
            number += item[0].count("\n")
    if not included:
        return "", text
    headers = "\n".join([*included, "#pragma nv_hdrstop\n"])
    return headers, f"#line {number}{name}\n{text[position:]}"


def _serve() -> None:
    """Answer requests until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is meant for the notebook
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the compiler's own prints are not an answer
    _limit_memory()
    os.environ.setdefault("NVRTC_PCH_HEAP_SIZE", str(HEADERS_MEMORY))
    answers_kept = KeptAnswers(KeptHeaders().compile)
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    while True:
        try:
            folder, request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            os.chdir(folder)  # files are named as seen from there
            answer = answers_kept.compile(**request)
        except (RuntimeError, MemoryError) as error:
            answer = {UNAVAILABLE: str(error) or "NVRTC has no memory left."}
        pickle.dump(answer, answers)
        answers.flush()


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    least = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (least, most))


def _end_with_the_asker() -> None:
    """Even in the middle of a program that the compiler never finishes."""
    asker = select.poll()
    asker.register(0, 0)  # reports a hang-up alone
    asker.poll()
    os._exit(0)


if __name__ == "__main__":
    _serve()
