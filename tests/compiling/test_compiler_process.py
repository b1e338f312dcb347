"""The compiler runs in a process that can be ended, and that ends with whoever asked it."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from course_utils.compiling import compiler_process
from course_utils.compiling.compiler_process import (
    COMPILER,
    CompilerProcess,
    CompilerStopped,
    compile_limit,
)
from course_utils.compiling.missing_compiler import CompilerMissing
from course_utils.compiling.nvrtc import compile_ptx
from course_utils.paths import ROOT
from tests.ended_processes import gone
from tests.machine_speed import slowness

BOMB = """
template <int N, unsigned K> struct F
{
    static const int v = F<N - 1, 2 * K>::v + F<N - 1, 2 * K + 1>::v;
};
template <unsigned K> struct F<0, K> { static const int v = 1; };
__device__ int t = F<27, 0>::v;
"""
START = """
import os, threading
from course_utils import load
from course_utils.compiling.compiler_process import COMPILER
bomb = %r
"""


def kernel(name: str) -> str:
    return f'extern "C" __global__ void {name}(int *a) {{ *a = 1; }}'


def compiled(name: str) -> bool:
    return f".entry {name}(" in compile_ptx(kernel(name), filename="kernels/x.cu")


def course(program: str) -> subprocess.Popen:
    environment = {**os.environ, "COURSE_DEVICE": "emulator", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", START % BOMB + program]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_one_process_compiles_one_source_after_the_other():
    assert compiled("first")
    process = COMPILER._process.pid
    assert compiled("second") and COMPILER._process.pid == process


def test_a_source_that_takes_too_long_is_stopped_and_the_next_gets_a_new_compiler():
    start = time.monotonic()
    with compile_limit(0.5), pytest.raises(CompilerStopped, match="still busy after 0.5 seconds"):
        compile_ptx(BOMB, filename="kernels/x.cu")
    assert compiled("third") and time.monotonic() - start < 5 * slowness()


def test_a_compiler_that_gets_no_processor_is_told_from_one_that_runs_too_long(monkeypatch):
    monkeypatch.setattr(compiler_process, "PATIENCE", 2)
    monkeypatch.setattr(compiler_process, "_processor_seconds", lambda process: 0.0)
    with compile_limit(0.2), pytest.raises(CompilerStopped, match="keep this machine busy"):
        compile_ptx(BOMB, filename="kernels/x.cu")


def test_a_compiler_that_was_ended_from_outside_is_started_anew():
    assert compiled("fourth")
    COMPILER._process.kill()
    COMPILER._process.wait()
    assert compiled("fifth")


def test_a_source_that_ends_the_compiler_is_an_error_of_that_source():
    assert compiled("before_it")
    end = threading.Timer(0.5, COMPILER._process.kill)
    end.start()
    with pytest.raises(CompilerStopped, match="ended by the signal SIGKILL") as stopped:
        compile_ptx(BOMB, filename="kernels/x.cu")
    assert "nested thousands of times" in str(stopped.value)
    assert compiled("after_all")


def test_a_process_that_was_forked_has_a_compiler_of_its_own():
    assert compiled("sixth")
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled("seventh") else 1)
    assert compiled("eighth")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert compiled("ninth")


def test_load_is_interrupted_while_the_compiler_is_busy():
    program = """
print("now", flush=True)
try:
    load(source=bomb)
except KeyboardInterrupt:
    assert load(source='extern "C" __global__ void k() {}').k
    print("interrupted, and compiled what came next")
"""
    process = course(program)
    assert process.stdout.readline() == "now\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30 * slowness())
    assert process.returncode == 0 and said == "interrupted, and compiled what came next\n"


def test_a_compiler_that_is_busy_ends_with_the_process_that_asked_it():
    program = """
load(source='extern "C" __global__ void k() {}')
print(COMPILER._process.pid, flush=True)
load(source=bomb)
"""
    process = course(program)
    compiler = int(process.stdout.readline())
    time.sleep(0.5)
    process.kill()
    process.wait()
    process.stdout.close()
    assert gone(compiler, 10)


def test_a_compiler_that_cannot_be_loaded_is_told_with_the_remedy(monkeypatch, tmp_path):
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("raise ImportError('none here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    compiler = CompilerProcess()
    with pytest.raises(CompilerMissing, match=r"`.*` installs it, .*\(none here\)"):
        compiler.compile(text="", filename="x.cu", flags=[], names=[], cubin=False)
    compiler.stop()


def test_its_heap_has_large_pages_beside_the_settings_of_the_user(monkeypatch):
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=4")
    started = []
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(k) or start(*a, **k))
    compiler = CompilerProcess()
    compiler._running()
    compiler.stop()
    settings = started[0]["env"]["GLIBC_TUNABLES"]
    assert settings == "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=4"
    assert started[0]["env"]["PATH"] == os.environ["PATH"]
