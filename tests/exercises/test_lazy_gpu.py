"""The stand-in GPU does nothing before it has to, and then in the order that CUDA promises."""

from __future__ import annotations

import math

import pytest

from course_utils.exercises.judging.lazy_gpu import EARLY, LATE, OTHERS_FIRST, LazyGPU


def test_a_copy_happens_only_when_its_stream_is_waited_for():
    gpu = LazyGPU()
    stream, x, back = gpu.Stream(), gpu.empty(1), gpu.pinned(1)
    x.set([3.0], stream=stream)
    x.get(out=back, stream=stream)
    assert math.isnan(back[0])
    stream.synchronize()
    assert back == [3.0]


def test_waiting_for_an_event_runs_the_other_stream_only_as_far_as_the_mark():
    gpu = LazyGPU()
    first, second, event = gpu.Stream(), gpu.Stream(), gpu.Event()
    x, y = gpu.empty(1), gpu.empty(1)
    x.set([3.0], stream=first)
    event.record(first)
    y.set([4.0], stream=first)
    second.wait_event(event)
    second.synchronize()
    assert x.values == [3.0] and math.isinf(y.values[0])


def test_the_kernel_squares_each_number_once_its_stream_is_waited_for():
    gpu = LazyGPU()
    stream, x = gpu.Stream(), gpu.empty(2)
    x.set([3.0, 0.5], stream=stream)
    gpu.square(x, stream=stream)
    assert all(map(math.isinf, x.values))
    stream.synchronize()
    assert x.values == [9.0, 0.25]


def test_waiting_for_an_event_nobody_recorded_does_not_wait():
    gpu = LazyGPU()
    stream, x = gpu.Stream(), gpu.empty(1)
    x.set([3.0], stream=stream)
    gpu.Event().synchronize()
    assert math.isinf(x.values[0])


def test_memory_of_the_host_is_overwritten_where_it_no_longer_holds_what_came_last():
    gpu = LazyGPU()
    stream, x, back = gpu.Stream(), gpu.empty(2), gpu.pinned(2)
    assert not gpu.overwritten()
    x.set([3.0, 4.0], stream=stream)
    x.get(out=back, stream=stream)
    stream.synchronize()
    assert not gpu.overwritten()
    back[1] = 5.0
    assert gpu.overwritten()


def test_a_source_changed_before_the_copy_ran_arrives_changed():
    gpu = LazyGPU()
    stream, x, source = gpu.Stream(), gpu.empty(1), [3.0]
    x.set(source, stream=stream)
    source[0] = 5.0
    stream.synchronize()
    assert x.values == [5.0]


@pytest.mark.parametrize(
    ("order", "before", "after"),
    [(LATE, math.inf, 3.0), (EARLY, 4.0, 4.0), (OTHERS_FIRST, math.inf, 3.0)],
)
def test_two_streams_that_do_not_wait_for_each_other_write_in_the_order_of_the_gpu(
    order, before, after
):
    gpu = LazyGPU(order)
    waited_for, other, x = gpu.Stream(), gpu.Stream(), gpu.empty(1)
    x.set([3.0], stream=waited_for)
    x.set([4.0], stream=other)
    assert x.values == [before]
    waited_for.synchronize()
    assert x.values == [after]


@pytest.mark.parametrize("by_event", [False, True])
def test_only_where_others_come_first_a_wait_also_runs_the_other_streams(by_event):
    ran = {}
    for order in (LATE, OTHERS_FIRST):
        gpu = LazyGPU(order)
        waited_for, other, x, event = gpu.Stream(), gpu.Stream(), gpu.empty(1), gpu.Event()
        x.set([4.0], stream=other)
        event.record(waited_for)
        (event if by_event else waited_for).synchronize()
        ran[order] = x.values == [4.0]
    assert ran == {LATE: False, OTHERS_FIRST: True}


def test_a_gpu_names_its_order_where_it_is_not_the_latest():
    assert [repr(LazyGPU(order)) for order in (LATE, EARLY, OTHERS_FIRST)] == [
        "gpu",
        "gpu (early)",
        "gpu (other streams first)",
    ]
