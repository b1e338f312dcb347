def lines_of_b(order, K, N, line):
    """How often a cache line of B is fetched while one row of C is computed.

    B has K rows of N elements; N is a multiple of `line`, the elements of a cache line. `order`
    names the two loops, the outer one first: "jk" is `for j: for k:`, "kj" is `for k: for j:`.
    Each turn reads B[k][j]. The cache is as small as can be: it holds one line of B, the last one
    that was read, so a line is fetched whenever a read is in another line than the read before.
    """
    # TODO: return the number of fetches, from a formula or from a loop that counts
    # SOLUTION
    outer, inner = (range(N), range(K)) if order == "jk" else (range(K), range(N))
    fetched, held = 0, None
    for x in outer:
        for y in inner:
            k, j = (y, x) if order == "jk" else (x, y)
            wanted = (k * N + j) // line
            fetched += wanted != held
            held = wanted
    return fetched
    # END
