def squares(gpu, numbers):
    """The squares of numbers, by way of the device: one stream copies, another computes."""
    copying, computing = gpu.Stream(), gpu.Stream()
    arrived = gpu.Event()
    x = gpu.empty(len(numbers))
    result = gpu.pinned(len(numbers))

    x.set(numbers, stream=copying)
    arrived.record(copying)
    # BUG
    # SOLUTION
    computing.wait_event(arrived)
    # END
    gpu.square(x, stream=computing)
    x.get(out=result, stream=computing)
    # BUG
    # SOLUTION
    computing.synchronize()
    # END
    return result
