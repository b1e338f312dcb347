"""Two launches that no stream, event or wait orders are named."""

import threading

import pytest

from course_utils.devices import emulated_cupy as cp
from course_utils.devices import emulated_streams
from course_utils.devices.emulated_kernels import RawModule

SOURCE = """
extern "C" __global__ void inc(float *x) { x[threadIdx.x] += 1; }
extern "C" __global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def module():
    return RawModule(code=SOURCE)


@pytest.fixture
def told(module, capsys):
    """What a function of (inc, twice, stream, another stream, x, y) makes the emulator say."""

    def run(function):
        emulated_streams._warned.clear()
        emulated_streams._works.clear()
        streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
        x, y = cp.zeros(8, cp.float32), cp.zeros(8, cp.float32)

        def inc():
            module.get_function("inc")((1,), (8,), (x,))

        def twice():
            module.get_function("twice")((1,), (8,), (x, y))

        function(inc, twice, *streams, x, y)
        return capsys.readouterr().err

    return run


def unordered(inc, twice, a, b, x, y):
    with a:
        inc()
    inc()


def read_unordered(inc, twice, a, b, x, y):
    with a:
        inc()
    with b:
        twice()


def got_too_early(inc, twice, a, b, x, y):
    with a:
        inc()
    x.get()


def got_without_a_wait(inc, twice, a, b, x, y):
    with a:
        inc()
        x.get(blocking=False)
    inc()


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (unordered, ("inc in the default stream writes x", "inc in a non-blocking stream")),
        (read_unordered, ("twice in a non-blocking stream reads x",)),
        (got_too_early, ("get() in the default stream reads", "inc in a non-blocking")),
        (got_without_a_wait, ("inc in the default stream",)),
    ],
)
def test_the_two_and_the_array_are_named(told, function, data):
    text = told(function)
    assert text.count("warning") >= 1 and all(words in text for words in data)


def one_stream(inc, twice, a, b, x, y):
    with a:
        inc()
        twice()
        x.get()
    inc()


def awaited(inc, twice, a, b, x, y):
    with a:
        inc()
    a.synchronize()
    inc()
    b.wait_event(cp.cuda.Stream.null.record())
    with b:
        twice()
    cp.cuda.Device().synchronize()
    y.get()


def by_events(inc, twice, a, b, x, y):
    event = cp.cuda.Event()
    with a:
        inc()
        event.record()
    b.wait_event(event)
    with b:
        twice()
    third = cp.cuda.Stream(non_blocking=True)
    third.wait_event(b.record())  # and what b has waited for
    with third:
        inc()


def blocking(inc, twice, a, b, x, y):
    with cp.cuda.Stream():
        inc()
    inc()
    with cp.cuda.Stream():
        twice()
    y.get()


def both_read(inc, twice, a, b, x, y):
    with a:
        twice()
    x.get()


def used(inc, twice, a, b, x, y):
    before = cp.cuda.get_current_stream()
    a.use()
    inc()
    twice()
    y.get()
    before.use()
    assert cp.cuda.get_current_stream() is cp.cuda.Stream.null


@pytest.mark.parametrize("function", [one_stream, awaited, by_events, blocking, both_read, used])
def test_work_in_an_order_is_not_named(told, function):
    assert told(function) == ""


def test_each_thread_of_the_host_has_its_own_stream():
    seen = {}
    inside, left = threading.Event(), threading.Event()

    def other():
        with cp.cuda.Stream(non_blocking=True) as stream:
            inside.set()
            left.wait(10)
            seen["other"] = cp.cuda.get_current_stream() is stream

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    seen["here"] = cp.cuda.get_current_stream() == cp.cuda.Stream.null
    left.set()
    thread.join()
    assert seen == {"here": True, "other": True}
