def pipeline_ms(forward_ms, backward_ms, stages, parts):
    """Milliseconds of a step: the whole network takes forward_ms and backward_ms for the whole
    batch on one GPU. It is cut into equal stages, and the batch into equal parts."""
    # TODO: all parts go forward, one behind the other, and then all go backward
    # STARTER
    #| return (forward_ms + backward_ms) / stages
    # SOLUTION
    one_part_in_one_stage = (forward_ms + backward_ms) / (stages * parts)
    return (parts + stages - 1) * one_part_in_one_stage
    # END
