# The list of BLAS has 13 places:
#   1 transa, 2 transb, 3 m, 4 n, 5 k, 6 alpha, 7 A, 8 lda, 9 B, 10 ldb, 11 beta, 12 C, 13 ldc
# A is stored by columns, lda elements from one to the next: m x k where transa is 0, k x m where it
# is 1 (transposed) or 2 (transposed, and conjugated if complex). B is k x n or n x k, C is m x n.
def which_argument(transa, transb, m, n, k, lda, ldb, ldc):
    """The place of the first argument that cannot be, 0 where all can."""
    # TODO: 3 is the answer to an m below 0; what else cannot be, from 1 to 13?
    # SOLUTION
    rows_of_a = m if transa == 0 else k
    rows_of_b = k if transb == 0 else n
    wrong = {
        1: transa not in (0, 1, 2),
        2: transb not in (0, 1, 2),
        3: m < 0,
        4: n < 0,
        5: k < 0,
        8: lda < max(1, rows_of_a),
        10: ldb < max(1, rows_of_b),
        13: ldc < max(1, m),
    }
    return next((place for place, is_wrong in wrong.items() if is_wrong), 0)
    # END
