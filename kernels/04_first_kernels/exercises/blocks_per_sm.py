def blocks_per_sm(threads, registers, shared):
    """How many blocks fit on an SM of an H100 or H200 at the same time.

    A block has `threads` threads (1 to 1024) with `registers` registers each (1 to 255), and
    `shared` bytes of shared memory.

    An SM has room for 64 warps, 32 blocks and 228 KB (of 1024 bytes) of shared memory. A warp lives
    in one of the SM's four parts, each of which has 16,384 registers. What is given out is rounded
    up: threads to whole warps of 32; the registers of a warp to a multiple of 256; and the shared
    memory of a block, with 1024 bytes more that the system needs, to a multiple of 128 bytes.
    """
    # TODO: for how many blocks is there enough of each of the four?
    # SOLUTION
    warps = -(-threads // 32)
    registers_of_warp = -(-registers * 32 // 256) * 256
    shared_of_block = -(-(shared + 1024) // 128) * 128
    by_warps = 64 // warps
    by_registers = 4 * (16384 // registers_of_warp) // warps
    by_shared = 228 * 1024 // shared_of_block
    return min(by_warps, 32, by_registers, by_shared)
    # END
