# Our matrices are stored by rows, `pitch` elements from one row to the next. The library has:
#   gemm(transa, transb, m, n, k, first, lda, second, ldb, C, ldc)
# op(first) is m x k, op(second) k x n, C m x n, all stored by columns; trans is 0 (the matrix as
# it is stored) or 1 (its transpose).
def row_major_gemm(M, N, K, transpose_a, transpose_b, pitch_a, pitch_b, pitch_c):
    """The arguments (transa, transb, m, n, k, first, lda, second, ldb, ldc) for C = op(A) op(B).

    op(A) is M x K: our A is, or its transpose where `transpose_a` is 1; op(B) is K x N likewise.
    `first` and `second` are "A" or "B".
    """
    # TODO: this is what a library of rows would take. What does one of columns?
    # STARTER
    #| return transpose_a, transpose_b, M, N, K, "A", pitch_a, "B", pitch_b, pitch_c
    # SOLUTION
    return transpose_b, transpose_a, N, M, K, "B", pitch_b, "A", pitch_a, pitch_c
    # END
