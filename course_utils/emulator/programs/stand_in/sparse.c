// cuSPARSE's products with a sparse matrix: NumPy computes.
#include "library.h"

enum { INVALID_VALUE = 3, EXECUTION_FAILED = 6, CSR = 1, COO = 3 };
typedef struct { Word format, rows, columns, count, row_kind, column_kind, base, kind; P row_index, column_index, values; } *Matrix;
typedef struct { Word rows, columns, ld, kind, by_rows; P values; } *Dense; // a vector has one column

int cusparseCreate(H *h) { return h ? (*h = made_handle(), 0) : INVALID_VALUE; }
int cusparseDestroy(H h) { return destroyed(h); }
int cusparseSetStream(H h, cudaStream_t s) { return is_handle(h) ? (h->stream = s, 0) : NOT_INITIALIZED; }
int cusparseGetStream(H h, cudaStream_t *s) { return is_handle(h) ? (*s = h->stream, 0) : NOT_INITIALIZED; }
int cusparseSetPointerMode(H h, int mode) { return is_handle(h) ? (h->device_scalars = mode, 0) : NOT_INITIALIZED; }
int cusparseGetPointerMode(H h, int *mode) { return is_handle(h) ? (*mode = h->device_scalars, 0) : NOT_INITIALIZED; }
int cusparseGetVersion(H h, int *version) { *version = CUDART_VERSION / 1000 * 1000; return 0; }
const char *cusparseGetErrorName(int s) {
    static const char *const names[] = {"SUCCESS", "NOT_INITIALIZED", "ALLOC_FAILED", "INVALID_VALUE", "ARCH_MISMATCH", "MAPPING_ERROR",
                                        "EXECUTION_FAILED", "INTERNAL_ERROR", "MATRIX_TYPE_NOT_SUPPORTED", "ZERO_PIVOT", "NOT_SUPPORTED"};
    static char text[64];
    snprintf(text, sizeof text, "CUSPARSE_STATUS_%s", s >= 0 && s <= 10 ? names[s] : "UNKNOWN");
    return text;
}
const char *cusparseGetErrorString(int s) { return cusparseGetErrorName(s); }

// The descriptor of matrices of older functions, which programs still make.
int cusparseCreateMatDescr(void **d) { *d = calloc(1, 16); return 0; }
int cusparseDestroyMatDescr(void *d) { free(d); return 0; }
int cusparseSetMatType(void *d, int type) { return 0; }
int cusparseSetMatIndexBase(void *d, int base) { return 0; }

static int matrix_of(Matrix *m, Word format, Word rows, Word columns, Word count, P row_index, P column_index, P values, int row_kind, int column_kind, int base, int kind) {
    if (rows < 0 || columns < 0 || count < 0) return INVALID_VALUE;
    *m = calloc(1, sizeof **m);
    **m = (typeof(**m)){format, rows, columns, count, row_kind, column_kind, base, kind, row_index, column_index, values};
    return 0;
}
#define CREATE_CSR(name) int name(Matrix *m, int64_t rows, int64_t columns, int64_t count, P offsets, P column_index, P values, int offset_kind, int column_kind, int base, int kind) { return matrix_of(m, CSR, rows, columns, count, offsets, column_index, values, offset_kind, column_kind, base, kind); }
#define CREATE_COO(name) int name(Matrix *m, int64_t rows, int64_t columns, int64_t count, P row_index, P column_index, P values, int index_kind, int base, int kind) { return matrix_of(m, COO, rows, columns, count, row_index, column_index, values, index_kind, index_kind, base, kind); }
CREATE_CSR(cusparseCreateCsr)
CREATE_CSR(cusparseCreateConstCsr)
CREATE_COO(cusparseCreateCoo)
CREATE_COO(cusparseCreateConstCoo)
int cusparseDestroySpMat(Matrix m) { free(m); return 0; }
int cusparseSpMatGetSize(Matrix m, int64_t *rows, int64_t *columns, int64_t *count) { *rows = m->rows, *columns = m->columns, *count = m->count; return 0; }

static int dense_of(Dense *d, Word rows, Word columns, Word ld, P values, int kind, int by_rows) {
    *d = calloc(1, sizeof **d);
    **d = (typeof(**d)){rows, columns, ld, kind, by_rows, values};
    return 0;
}
int cusparseCreateDnVec(Dense *d, int64_t n, P values, int kind) { return dense_of(d, n, 1, n, values, kind, 0); }
int cusparseCreateConstDnVec(Dense *d, int64_t n, P values, int kind) { return dense_of(d, n, 1, n, values, kind, 0); }
int cusparseDestroyDnVec(Dense d) { free(d); return 0; }
int cusparseDnVecSetValues(Dense d, P values) { d->values = values; return 0; }
int cusparseDnVecGetValues(Dense d, P *values) { *values = d->values; return 0; }
enum { BY_ROWS = 2 }; // CUSPARSE_ORDER_ROW
int cusparseCreateDnMat(Dense *d, int64_t rows, int64_t columns, int64_t ld, P values, int kind, int order) { return dense_of(d, rows, columns, ld, values, kind, order == BY_ROWS); }
int cusparseCreateConstDnMat(Dense *d, int64_t rows, int64_t columns, int64_t ld, P values, int kind, int order) { return dense_of(d, rows, columns, ld, values, kind, order == BY_ROWS); }
int cusparseDestroyDnMat(Dense d) { free(d); return 0; }

#define DENSE(d) W((d)->values), (d)->kind, (d)->rows, (d)->columns, (d)->ld, (d)->by_rows
static int product(const char *name, H h, int op_a, int op_b, P alpha, Matrix a, Dense b, P beta, Dense c, int kind) {
    if (!is_handle(h)) return NOT_INITIALIZED;
    if (!a || !b || !c) return INVALID_VALUE;
    return status_of(emulator_ask("cusparse", W(h->stream), WORDS(W(name), h->device_scalars, op_a, op_b, SCALAR(alpha, kind), SCALAR(beta, kind),
        a->format, a->rows, a->columns, a->count, a->row_kind, a->column_kind, a->base, a->kind, W(a->row_index), W(a->column_index), W(a->values),
        DENSE(b), DENSE(c))), EXECUTION_FAILED);
}
static int no_buffer(H h, size_t *n) { return is_handle(h) ? (*n = 8, 0) : NOT_INITIALIZED; }
int cusparseSpMV_bufferSize(H h, int op, P alpha, Matrix a, Dense x, P beta, Dense y, int kind, int algorithm, size_t *n) { return no_buffer(h, n); }
int cusparseSpMV_preprocess(H h, int op, P alpha, Matrix a, Dense x, P beta, Dense y, int kind, int algorithm, void *buffer) { return is_handle(h) ? 0 : NOT_INITIALIZED; }
int cusparseSpMV(H h, int op, P alpha, Matrix a, Dense x, P beta, Dense y, int kind, int algorithm, void *buffer) { return product("cusparseSpMV", h, op, 0, alpha, a, x, beta, y, kind); }
int cusparseSpMM_bufferSize(H h, int op_a, int op_b, P alpha, Matrix a, Dense b, P beta, Dense c, int kind, int algorithm, size_t *n) { return no_buffer(h, n); }
int cusparseSpMM_preprocess(H h, int op_a, int op_b, P alpha, Matrix a, Dense b, P beta, Dense c, int kind, int algorithm, void *buffer) { return is_handle(h) ? 0 : NOT_INITIALIZED; }
int cusparseSpMM(H h, int op_a, int op_b, P alpha, Matrix a, Dense b, P beta, Dense c, int kind, int algorithm, void *buffer) { return product("cusparseSpMM", h, op_a, op_b, alpha, a, b, beta, c, kind); }
