// cuBLAS's functions with sizes of the type I, by names N(name). blas.c includes it for int and, with
// the suffix _64, for int64_t. Codes of types are cudaDataType's.

#define VECTORS(L, code) \
    int N(cublas##L##axpy_v2)(H h, I n, P a, P x, I ix, P y, I iy) { return CALL("axpy", "cublas" #L "axpy", SCALAR(a, code), n, code, W(x), ix, code, W(y), iy); } \
    int N(cublas##L##copy_v2)(H h, I n, P x, I ix, P y, I iy) { return CALL("copy", "cublas" #L "copy", n, code, W(x), ix, code, W(y), iy); } \
    int N(cublas##L##swap_v2)(H h, I n, P x, I ix, P y, I iy) { return CALL("swap", "cublas" #L "swap", n, code, W(x), ix, code, W(y), iy); } \
    int N(cublas##L##scal_v2)(H h, I n, P a, P x, I ix) { return CALL("scal", "cublas" #L "scal", SCALAR(a, code), n, code, W(x), ix); }
VECTORS(S, 0)
VECTORS(D, 1)
VECTORS(C, 4)
VECTORS(Z, 5)
int N(cublasCsscal_v2)(H h, I n, P a, P x, I ix) { return CALL("scal", "cublasCsscal", SCALAR(a, 0), n, 4, W(x), ix); }
int N(cublasZdscal_v2)(H h, I n, P a, P x, I ix) { return CALL("scal", "cublasZdscal", SCALAR(a, 1), n, 5, W(x), ix); }
int N(cublasSrot_v2)(H h, I n, P x, I ix, P y, I iy, P c, P s) { return CALL("rot", "cublasSrot", SCALAR(c, 0), SCALAR(s, 0), n, 0, W(x), ix, 0, W(y), iy); }
int N(cublasDrot_v2)(H h, I n, P x, I ix, P y, I iy, P c, P s) { return CALL("rot", "cublasDrot", SCALAR(c, 1), SCALAR(s, 1), n, 1, W(x), ix, 1, W(y), iy); }
int N(cublasAxpyEx)(H h, I n, P a, int ta, P x, int tx, I ix, P y, int ty, I iy, int t) { return CALL("axpy", "cublasAxpyEx", SCALAR(a, ta), n, tx, W(x), ix, ty, W(y), iy); }
int N(cublasScalEx)(H h, I n, P a, int ta, P x, int tx, I ix, int t) { return CALL("scal", "cublasScalEx", SCALAR(a, ta), n, tx, W(x), ix); }

// Results: their type follows the result's address.
#define RESULT(name, op, code, type) \
    int N(name##_v2)(H h, I n, P x, I ix, P r) { return CALL(op, #name, W(r), type, n, code, W(x), ix); }
RESULT(cublasSnrm2, "nrm2", 0, 0)
RESULT(cublasDnrm2, "nrm2", 1, 1)
RESULT(cublasScnrm2, "nrm2", 4, 0)
RESULT(cublasDznrm2, "nrm2", 5, 1)
RESULT(cublasSasum, "asum", 0, 0)
RESULT(cublasDasum, "asum", 1, 1)
RESULT(cublasScasum, "asum", 4, 0)
RESULT(cublasDzasum, "asum", 5, 1)
#define INDEX(name, op, code) RESULT(name, op, code, sizeof(I) == 8 ? 24 : 10)
INDEX(cublasIsamax, "amax", 0)
INDEX(cublasIdamax, "amax", 1)
INDEX(cublasIcamax, "amax", 4)
INDEX(cublasIzamax, "amax", 5)
INDEX(cublasIsamin, "amin", 0)
INDEX(cublasIdamin, "amin", 1)
INDEX(cublasIcamin, "amin", 4)
INDEX(cublasIzamin, "amin", 5)
int N(cublasNrm2Ex)(H h, I n, P x, int tx, I ix, P r, int tr, int t) { return CALL("nrm2", "cublasNrm2Ex", W(r), tr, n, tx, W(x), ix); }
#define DOT(name, code, conjugate) \
    int N(name##_v2)(H h, I n, P x, I ix, P y, I iy, P r) { return CALL("dot", #name, W(r), code, conjugate, n, code, W(x), ix, code, W(y), iy); }
DOT(cublasSdot, 0, 0)
DOT(cublasDdot, 1, 0)
DOT(cublasCdotu, 4, 0)
DOT(cublasCdotc, 4, 1)
DOT(cublasZdotu, 5, 0)
DOT(cublasZdotc, 5, 1)
int N(cublasDotEx)(H h, I n, P x, int tx, I ix, P y, int ty, I iy, P r, int tr, int t) { return CALL("dot", "cublasDotEx", W(r), tr, 0, n, tx, W(x), ix, ty, W(y), iy); }
int N(cublasDotcEx)(H h, I n, P x, int tx, I ix, P y, int ty, I iy, P r, int tr, int t) { return CALL("dot", "cublasDotcEx", W(r), tr, 1, n, tx, W(x), ix, ty, W(y), iy); }

#define GER(name, code, conjugate) \
    int N(name##_v2)(H h, I m, I n, P al, P x, I ix, P y, I iy, P a, I lda) { return CALL("ger", #name, m, n, conjugate, code, SCALAR(al, code), W(x), ix, W(y), iy, W(a), lda); }
GER(cublasSger, 0, 0)
GER(cublasDger, 1, 0)
GER(cublasCgeru, 4, 0)
GER(cublasCgerc, 4, 1)
GER(cublasZgeru, 5, 0)
GER(cublasZgerc, 5, 1)

#define MATRICES(L, code) \
    int N(cublas##L##gemv_v2)(H h, int t, I m, I n, P al, P a, I lda, P x, I ix, P be, P y, I iy) { return CALL("gemv", "cublas" #L "gemv", t, m, n, code, SCALAR(al, code), SCALAR(be, code), W(a), lda, W(x), ix, W(y), iy); } \
    int N(cublas##L##gemm_v2)(H h, int ta, int tb, I m, I n, I k, P al, P a, I lda, P b, I ldb, P be, P c, I ldc) { return GEMM("cublas" #L "gemm", code, code, code, code, 0, 0, 0, 1, 0); } \
    int N(cublas##L##geam)(H h, int ta, int tb, I m, I n, P al, P a, I lda, P be, P b, I ldb, P c, I ldc) { return CALL("geam", "cublas" #L "geam", ta, tb, m, n, code, SCALAR(al, code), SCALAR(be, code), W(a), lda, W(b), ldb, W(c), ldc); } \
    int N(cublas##L##dgmm)(H h, int side, I m, I n, P a, I lda, P x, I ix, P c, I ldc) { return CALL("dgmm", "cublas" #L "dgmm", side, m, n, code, W(a), lda, W(x), ix, W(c), ldc); } \
    int N(cublas##L##trsm_v2)(H h, int side, int uplo, int t, int diag, I m, I n, P al, P a, I lda, P b, I ldb) { return CALL("trsm", "cublas" #L "trsm", side, uplo, t, diag, m, n, code, SCALAR(al, code), W(a), lda, W(b), ldb); } \
    BATCHES(L, code)
#define BATCHES(L, code) \
    int N(cublas##L##gemmBatched)(H h, int ta, int tb, I m, I n, I k, P al, P a, I lda, P b, I ldb, P be, P c, I ldc, I count) { return GEMM("cublas" #L "gemmBatched", code, code, code, code, 0, 0, 0, count, 1); } \
    int N(cublas##L##gemmStridedBatched)(H h, int ta, int tb, I m, I n, I k, P al, P a, I lda, long long sa, P b, I ldb, long long sb, P be, P c, I ldc, long long sc, I count) { return GEMM("cublas" #L "gemmStridedBatched", code, code, code, code, sa, sb, sc, count, 0); }
MATRICES(S, 0)
MATRICES(D, 1)
MATRICES(C, 4)
MATRICES(Z, 5)
BATCHES(H, 2)
int N(cublasHgemm)(H h, int ta, int tb, I m, I n, I k, P al, P a, I lda, P b, I ldb, P be, P c, I ldc) { return GEMM("cublasHgemm", 2, 2, 2, 2, 0, 0, 0, 1, 0); }
int N(cublasSgemmEx)(H h, int ta, int tb, I m, I n, I k, P al, P a, int A, I lda, P b, int B, I ldb, P be, P c, int C, I ldc) { return GEMM("cublasSgemmEx", 0, A, B, C, 0, 0, 0, 1, 0); }
int N(cublasGemmEx)(H h, int ta, int tb, I m, I n, I k, P al, P a, int A, I lda, P b, int B, I ldb, P be, P c, int C, I ldc, int compute, int algorithm) { return GEMM("cublasGemmEx", scalar_of(compute, C), A, B, C, 0, 0, 0, 1, 0); }
int N(cublasGemmBatchedEx)(H h, int ta, int tb, I m, I n, I k, P al, P a, int A, I lda, P b, int B, I ldb, P be, P c, int C, I ldc, I count, int compute, int algorithm) { return GEMM("cublasGemmBatchedEx", scalar_of(compute, C), A, B, C, 0, 0, 0, count, 1); }
int N(cublasGemmStridedBatchedEx)(H h, int ta, int tb, I m, I n, I k, P al, P a, int A, I lda, long long sa, P b, int B, I ldb, long long sb, P be, P c, int C, I ldc, long long sc, I count, int compute, int algorithm) { return GEMM("cublasGemmStridedBatchedEx", scalar_of(compute, C), A, B, C, sa, sb, sc, count, 0); }
int N(cublasSetVector)(I n, I size, P x, I ix, P y, I iy) { return copied(cudaMemcpy2D((void *)y, iy * size, x, ix * size, size, n, cudaMemcpyHostToDevice)); }
int N(cublasGetVector)(I n, I size, P x, I ix, P y, I iy) { return copied(cudaMemcpy2D((void *)y, iy * size, x, ix * size, size, n, cudaMemcpyDeviceToHost)); }
int N(cublasSetMatrix)(I m, I n, I size, P a, I lda, P b, I ldb) { return copied(cudaMemcpy2D((void *)b, ldb * size, a, lda * size, m * size, n, cudaMemcpyHostToDevice)); }
int N(cublasGetMatrix)(I m, I n, I size, P a, I lda, P b, I ldb) { return copied(cudaMemcpy2D((void *)b, ldb * size, a, lda * size, m * size, n, cudaMemcpyDeviceToHost)); }
int N(cublasSetVectorAsync)(I n, I size, P x, I ix, P y, I iy, cudaStream_t s) { return copied(cudaMemcpy2DAsync((void *)y, iy * size, x, ix * size, size, n, cudaMemcpyHostToDevice, s)); }
int N(cublasGetVectorAsync)(I n, I size, P x, I ix, P y, I iy, cudaStream_t s) { return copied(cudaMemcpy2DAsync((void *)y, iy * size, x, ix * size, size, n, cudaMemcpyDeviceToHost, s)); }
int N(cublasSetMatrixAsync)(I m, I n, I size, P a, I lda, P b, I ldb, cudaStream_t s) { return copied(cudaMemcpy2DAsync((void *)b, ldb * size, a, lda * size, m * size, n, cudaMemcpyHostToDevice, s)); }
int N(cublasGetMatrixAsync)(I m, I n, I size, P a, I lda, P b, I ldb, cudaStream_t s) { return copied(cudaMemcpy2DAsync((void *)b, ldb * size, a, lda * size, m * size, n, cudaMemcpyDeviceToHost, s)); }

#undef VECTORS
#undef RESULT
#undef INDEX
#undef DOT
#undef GER
#undef MATRICES
#undef BATCHES
