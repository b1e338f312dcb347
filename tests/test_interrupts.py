"""Ctrl-C is one line, comes after what must not be half done, and is never lost."""

import signal
import threading
import time
import weakref

import pytest

from course_utils import load
from course_utils.compiling.compiler_process import COMPILER
from course_utils.devices.selection import EMULATOR
from course_utils.interrupts import Interrupted, finished_first, interruptible


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, before)
    assert left is signal.default_int_handler, "the handler was not put back"


def interrupt(*_) -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_is_one_line_and_still_an_interrupt():
    with pytest.raises(KeyboardInterrupt) as caught, interruptible("nothing was done."):
        interrupt()
    assert caught.value._render_traceback_() == ["Interrupted: nothing was done."]


def test_of_two_the_outer_one_says_what_was_stopped():
    with pytest.raises(Interrupted, match="outer"), interruptible("outer"), interruptible("inner"):
        interrupt()


class Plain:
    """An object that takes a finalizer."""


class Ended:
    """Its __del__, where Python drops exceptions, is interrupted."""

    def __init__(self, done: list):
        self.done = done

    def __del__(self) -> None:
        interrupt()
        self.done.append("all of it")


@pytest.mark.parametrize("how", ["finalize", "__del__"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_in_a_finalizer_comes_when_that_has_ended(how):
    done: list[str] = []
    dying = {Ended(done)} if how == "__del__" else {Plain()}
    if how == "finalize":
        weakref.finalize(*dying, lambda: (interrupt(), done.append("all of it")))
    with pytest.raises(Interrupted), interruptible("stopped."):
        dying.clear()
        assert done == ["all of it"]
        time.sleep(5)


def test_an_import_is_finished_first_and_a_second_interrupt_is_not_waited_with():
    done = []
    with pytest.raises(Interrupted, match="again"), finished_first("again."):
        interrupt()
        done.append("all of it")
    assert done
    with pytest.raises(Interrupted, match="again"), finished_first("again."):
        interrupt()
        interrupt()
        done.append("more")
    assert done == ["all of it"]


def test_an_interrupt_wins_over_the_error_that_the_import_ends_with():
    with pytest.raises(Interrupted, match="again"), finished_first("again."):
        interrupt()
        raise ImportError("half of NumPy")


def test_another_thread_and_another_handler_are_left_alone():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append("theirs"))
    with interruptible("never"), finished_first("never"):
        interrupt()
    assert seen == ["theirs"]
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def work() -> None:
        with interruptible("never"), finished_first("never"):
            seen.append("in a thread")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["theirs", "in a thread"]


EMPTY = 'extern "C" __global__ void empty_kernel() {}'


def test_load_says_what_the_interrupt_stopped(monkeypatch):
    monkeypatch.setattr(COMPILER, "_ask", interrupt)
    with pytest.raises(Interrupted, match="mine.cu was not compiled"):
        load(source=f"{EMPTY} // of this test", filename="mine.cu", device=EMULATOR)


def test_a_first_import_is_finished_first(monkeypatch):
    import course_utils

    monkeypatch.delitem(vars(course_utils), "check", raising=False)
    monkeypatch.setattr(course_utils, "import_module", interrupt)
    with pytest.raises(Interrupted, match="finish loading"):
        course_utils.check  # noqa: B018
