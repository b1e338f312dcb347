// cuBLAS: NumPy computes.
#include "library.h"

enum { INVALID_VALUE = 7, MAPPING_ERROR = 11, EXECUTION_FAILED = 13 };
static int copied(cudaError_t error) { return error ? MAPPING_ERROR : 0; }
#define CALL(op, name, ...) \
    (is_handle(h) ? status_of(emulator_ask("cublas", W(h->stream), WORDS(W(op), W(name), h->device_scalars, __VA_ARGS__)), EXECUTION_FAILED) : NOT_INITIALIZED)
#define GEMM(name, scalar, A, B, C, sa, sb, sc, count, pointers) \
    CALL("gemm", name, ta, tb, m, n, k, SCALAR(al, scalar), SCALAR(be, scalar), W(a), A, lda, sa, W(b), B, ldb, sb, W(c), C, ldc, sc, count, pointers)

int cublasCreate_v2(H *h) { return h ? (*h = made_handle(), 0) : NOT_INITIALIZED; }
int cublasDestroy_v2(H h) { return destroyed(h); }
#define FIELD(Name, suffix, type, field) \
    int cublasSet##Name##suffix(H h, type value) { return is_handle(h) ? (h->field = value, 0) : NOT_INITIALIZED; } \
    int cublasGet##Name##suffix(H h, type *value) { return is_handle(h) ? (*value = h->field, 0) : NOT_INITIALIZED; }
FIELD(Stream, _v2, cudaStream_t, stream)
FIELD(PointerMode, _v2, int, device_scalars)
FIELD(MathMode, , int, math)
FIELD(AtomicsMode, , int, atomics)
int cublasSetWorkspace_v2(H h, void *workspace, size_t n) { return is_handle(h) ? 0 : NOT_INITIALIZED; }
int cublasSetSmCountTarget(H h, int n) { return is_handle(h) ? 0 : NOT_INITIALIZED; }
int cublasGetVersion_v2(H h, int *version) { *version = CUDART_VERSION / 1000 * 10000; return 0; }
int cublasGetProperty(int which, int *value) { *value = which ? 0 : CUDART_VERSION / 1000; return 0; }
size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

static const char *name_of(int s) {
    switch (s) {
    case 0: return "CUBLAS_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
    case INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 15: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_INTERNAL_ERROR";
    }
}
const char *cublasGetStatusName(int s) { return name_of(s); }
const char *cublasGetStatusString(int s) { return name_of(s); }

#define FACTORS(L, code) \
    int cublas##L##getrfBatched(H h, int n, P a, int lda, int *pivots, int *info, int count) { return CALL("getrf", "cublas" #L "getrfBatched", n, code, W(a), lda, W(pivots), W(info), count); }
FACTORS(S, 0)
FACTORS(D, 1)
FACTORS(C, 4)
FACTORS(Z, 5)

#define I int
#define N(name) name
#include "blas.h"
#undef I
#undef N
#define I int64_t
#define N(name) name##_64
#include "blas.h"
