"""Answers in Python come from a server that forks: one job can harm neither the next nor it."""

import signal
import threading
import time

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.python_answer import verdict_of
from course_utils.exercises.judging.python_process import server
from tests.ended_processes import gone
from tests.machine_speed import slowness

BLOCKS = find("04.blocks_for")
HEAD = "def blocks_for(n, threads):\n    "
RIGHT = BLOCKS.solution


def test_the_next_answer_finds_nothing_of_the_one_before():
    spoiled = "import builtins, numpy, os; builtins.len = numpy.all = None; os.chdir('/')\n"
    assert not verdict_of(BLOCKS, f"{spoiled}{HEAD}return 0").passed
    assert verdict_of(BLOCKS, RIGHT).passed


def test_answers_share_a_server_and_no_process():
    own, parents = (
        {verdict_of(BLOCKS, f"{HEAD}import os; return str(os.{what}())").message for _ in range(2)}
        for what in ("getpid", "getppid")
    )
    assert len(own) == 2 and len(parents) == 1


def test_an_answer_that_ends_the_server_is_reported_and_the_next_gets_a_new_one():
    fatal = HEAD + "import os; os.kill(os.getppid(), 9); return 1"
    assert verdict_of(BLOCKS, fatal).kind == kinds.CRASHED
    assert verdict_of(BLOCKS, RIGHT).passed


def test_what_an_answer_started_ends_with_it(tmp_path):
    file = tmp_path / "pid"
    start = f"""import os, time
    if os.fork() == 0:
        with open({str(file)!r}, "w") as told:
            told.write(str(os.getpid()))
        time.sleep(99)
    time.sleep(0.5)
"""
    for then, seconds in (("return 1", 20), ("time.sleep(99)", 1.5 * slowness())):
        verdict_of(BLOCKS, f"{HEAD}{start}    {then}", seconds)
        assert gone(int(file.read_text()), 5)


def test_what_leaves_the_group_of_an_answer_ends_with_it_too(tmp_path):
    file = tmp_path / "pid"
    leave = f"""import os, time
    if os.fork() == 0:
        os.setsid()
        with open({str(file)!r}, "w") as told:
            told.write(str(os.getpid()))
        time.sleep(99)
    time.sleep(0.5)
"""
    for then, seconds in (("return 1", 20), ("time.sleep(99)", 1.5 * slowness())):
        verdict_of(BLOCKS, f"{HEAD}{leave}    {then}", seconds)
        assert gone(int(file.read_text()), 5)
    assert verdict_of(BLOCKS, RIGHT).passed


def test_an_interrupt_ends_the_answer_and_its_server(tmp_path):
    file = tmp_path / "pid"
    sleep = f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(99)"
    main = threading.main_thread().ident

    def interrupt() -> None:
        while not (file.exists() and file.read_text()):  # the answer has not begun
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        verdict_of(BLOCKS, HEAD + sleep)
    assert gone(int(file.read_text()), 5)
    assert verdict_of(BLOCKS, RIGHT).passed


def test_a_server_that_was_stopped_starts_again():
    server().stop()
    assert verdict_of(BLOCKS, RIGHT).passed


def test_an_answer_sees_none_of_the_server_s_pipes():
    look = "import os; return str([os.readlink(f'/proc/self/fd/{n}') for n in (0, 1, 2)])"
    said = verdict_of(BLOCKS, HEAD + look).message
    assert "/dev/null" in said and "output" in said and "pipe" not in said
