def overlapped_ms(ready_ms, reduce_ms):
    """When the last all-reduce of a step ends. Bucket k of gradients is there at ready_ms[k], and
    its all-reduce takes reduce_ms[k]; they run one at a time, in the order of the lists, even if a
    later bucket is there first."""
    # TODO: each begins when its bucket is there and the one before has ended
    # STARTER
    #| return ready_ms[-1] + sum(reduce_ms)
    # SOLUTION
    end = 0.0
    for ready, takes in zip(ready_ms, reduce_ms, strict=True):
        end = max(end, ready) + takes
    return end
    # END
