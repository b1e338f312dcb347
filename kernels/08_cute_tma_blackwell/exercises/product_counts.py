# A block's tile of BM x BN results is shared by warps_m x warps_n warps, alike; a stage holds BK
# elements along K of both operands. mma is m16n8k16, ldmatrix reads four 8 x 8 matrices (x4).
def product_counts(BM, BN, BK, warps_m, warps_n):
    """(mma, ldmatrix) of a warp for one stage, and the fp32 sums that each thread holds."""
    # TODO: three numbers
    # SOLUTION
    down, across = BM // warps_m, BN // warps_n  # the warp's part
    steps = BK // 16
    mma = down // 16 * (across // 8) * steps
    ldmatrix = (down // 16 + across // 16) * steps
    return mma, ldmatrix, down * across // 32
    # END
