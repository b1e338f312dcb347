// cuBLAS: NumPy computes. Its headers needn't be there, so the types of arguments are written here.
#include "asking.h"

typedef struct Handle {
    Word magic;
    cudaStream_t stream;
    int device_scalars, math, atomics; // cublasPointerMode_t, cublasMath_t, cublasAtomicsMode_t
} *H;
typedef const void *P;
enum { MAGIC = 0x626c6173, NOT_INITIALIZED = 1, INVALID_VALUE = 7, MAPPING_ERROR = 11, EXECUTION_FAILED = 13 };

static int is_handle(H h) { return h && h->magic == MAGIC; }
// An earlier fault makes a call fail: that is an error of the runtime, and greater than cuBLAS's.
static int status(Word answer) { return answer >= 100 ? EXECUTION_FAILED : (int)answer; }
static int copied(cudaError_t error) { return error ? MAPPING_ERROR : 0; }
static int bytes_of(int type) { return type == 5 ? 16 : type == 1 || type == 4 ? 8 : type == 2 || type == 14 ? 2 : 4; }
// The type of alpha and beta, of a cublasComputeType_t and the type of C.
static int scalar_of(int compute, int type) {
    if (compute == 64 || compute == 65) return 2;
    if (compute == 72 || compute == 73) return 10;
    int wide = compute == 70 || compute == 71 || compute == 79, complex = type == 4 || type == 5;
    return wide + 4 * complex;
}
// A scalar in four words: its type, its address in device memory or 0, and the bytes of one of the host.
static Word address_of(H h, P p) { return !p ? -1 : h->device_scalars ? W(p) : 0; }
static Word half_of(H h, P p, int type, int at) {
    Word word = 0;
    int left = bytes_of(type) - 8 * at;
    if (p && !h->device_scalars && left > 0) memcpy(&word, (const char *)p + 8 * at, left < 8 ? left : 8);
    return word;
}
#define SCALAR(p, type) (Word)(type), address_of(h, p), half_of(h, p, type, 0), half_of(h, p, type, 1)
#define CALL(op, name, ...) \
    (is_handle(h) ? status(emulator_ask("cublas", W(h->stream), WORDS(W(op), W(name), h->device_scalars, __VA_ARGS__))) : NOT_INITIALIZED)
#define GEMM(name, scalar, A, B, C, sa, sb, sc, count, pointers) \
    CALL("gemm", name, ta, tb, m, n, k, SCALAR(al, scalar), SCALAR(be, scalar), W(a), A, lda, sa, W(b), B, ldb, sb, W(c), C, ldc, sc, count, pointers)

int cublasCreate_v2(H *h) {
    if (!h) return NOT_INITIALIZED;
    *h = calloc(1, sizeof **h);
    (*h)->magic = MAGIC, (*h)->math = 0, (*h)->atomics = 0;
    return 0;
}
int cublasDestroy_v2(H h) {
    if (!is_handle(h)) return NOT_INITIALIZED;
    h->magic = 0; // and kept, so that a later use is noticed
    return 0;
}
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
