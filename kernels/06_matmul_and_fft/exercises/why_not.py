# A block's tile is BM x BN of C, BK deep, in `stages` pairs; `registers` and `spilled` (bytes) are
# what the compiler reports for a thread. One multiprocessor has 65,536 registers and gives them to
# each warp in multiples of 256; a block may have 227 KB (232,448 bytes) of shared memory and 1024
# threads, whole warps all of them.
def why_not(BM, BN, BK, stages, threads, registers, spilled):
    # TODO: return the first of "threads", "shared memory", "registers", "spills" that rules the
    #       candidate out, and "" if none does. Floats have 4 bytes; A's rows are padded by 4.
    # STARTER
    #| return ""
    # SOLUTION
    if threads > 1024:
        return "threads"
    if stages * BK * (BM + 4 + BN) * 4 > 232_448:
        return "shared memory"
    for_a_warp = -(-registers * 32 // 256) * 256
    if threads // 32 * for_a_warp > 65_536:
        return "registers"
    return "spills" if spilled > 0 else ""
    # END
