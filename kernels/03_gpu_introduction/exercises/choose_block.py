# TODO: write choose_block(gpus, least) from its first line. `gpus` is a list of pairs (threads,
# blocks): the most that are resident on a multiprocessor of each GPU. The block has `least` threads
# or more, at most 1024, and a multiple of 32. The share of a GPU is the fraction of its thread
# slots that such blocks fill. Return (block, share): the size whose smallest share over all GPUs is
# largest, and that share. In a tie take the smallest block.
# SOLUTION
def choose_block(gpus, least):
    """The block size that fills the worst-filled of the GPUs best, and the share that it fills."""
    best = 0, 0.0
    for block in range(32, 1025, 32):
        if block < least:
            continue
        share = min(min(blocks, threads // block) * block / threads for threads, blocks in gpus)
        if share > best[1]:
            best = block, share
    return best


# END
