def gemm_plan(block, warp, instruction, stages, bytes_each):
    """What CUTLASS makes of its shapes, each (M, N, K): the threads of a block, the fp32 sums that
    a thread keeps, the bytes of shared memory, and the instructions that a warp issues for one
    tile of K. A stage holds a block's tile of A and one of B; ``bytes_each`` is an element's."""
    # TODO: a warp has 32 threads, which share the sums of its tile
    # SOLUTION
    (bm, bn, bk), (wm, wn, wk), (im, inn, ik) = block, warp, instruction
    warps = (bm // wm) * (bn // wn) * (bk // wk)
    sums = wm * wn // 32
    shared = stages * (bm * bk + bn * bk) * bytes_each
    return 32 * warps, sums, shared, (wm // im) * (wn // inn) * (wk // ik)
    # END
