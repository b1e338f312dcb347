def overlap_ms(copy_in, kernel, copy_out, chunks):
    """Milliseconds of a pipeline; the three arguments are the times of the whole data, in ms."""
    # TODO: the first chunk goes through all three stages; each further chunk adds the time that
    # the slowest stage takes for one chunk
    # STARTER
    #| return copy_in + kernel + copy_out
    # SOLUTION
    first_chunk = (copy_in + kernel + copy_out) / chunks
    each_further = max(copy_in, kernel, copy_out) / chunks
    return first_chunk + (chunks - 1) * each_further
    # END
