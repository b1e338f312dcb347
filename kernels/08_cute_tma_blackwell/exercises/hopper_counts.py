def hopper_counts(plan):
    """How often (wgmma, TMA load, TMA store, stmatrix, mbarrier.init) appear in the kernel's PTX.

    `plan` maps "BM", "BN", "BK" and "STAGES" to numbers: BM and BN multiples of 64, BK of 16. One
    `wgmma` multiplies 64 x BN x 16, one TMA load fills a tile of A or of B, one TMA store writes
    64 x 64 results of a warpgroup, and `stmatrix` stores four matrices of 8 x 8 for a warp.
    """
    # TODO: five numbers, in this order
    # SOLUTION
    boxes = plan["BN"] // 64
    return plan["BK"] // 16, 2, boxes, 4 * boxes, 2 * plan["STAGES"]
    # END
