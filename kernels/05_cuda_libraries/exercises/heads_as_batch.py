# Attention scores S = Q K^T for all heads in one call:
#   gemm_strided(transa, transb, m, n, k, first, lda, stride of first,
#                second, ldb, stride of second, S, ldc, stride of S, count)
# on matrices stored by columns, a stride apart from one product to the next. Ours are NumPy's:
#   Q    (queries, heads, d)      the heads of a token side by side
#   K    (heads, room, d)         a cache with room for `room` keys, of which `keys` are there;
#                                 (1, room, d) where all heads share one
#   S    (heads, queries, room)   the first `keys` numbers of each row are written
def heads_as_batch(queries, keys, heads, d, room, shared):
    """(transa, transb, m, n, k, first, lda, its stride, second, ldb, its stride, ldc, its stride,
    count), where `first` and `second` are "Q" or "K"; `shared` is True where all heads share K."""
    # TODO: one product for each head; nothing is copied or transposed in memory
    # SOLUTION
    of_k = "K", d, 0 if shared else room * d
    of_q = "Q", heads * d, d
    return 1, 0, keys, queries, d, *of_k, *of_q, room, queries * room, heads
    # END
