// cuFFT: NumPy computes. Its header needn't be here.
#include "asking.h"

enum { PLANS = 4096, C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c };
enum { INVALID_PLAN = 1, INVALID_TYPE = 3, INVALID_VALUE = 4, EXEC_FAILED = 6, INVALID_SIZE = 8 };
// The distances of elements are 0 where the data are contiguous.
typedef struct {
    int made, type, rank;
    Word size[3], batch, in_step, in_size[3], in_batch, out_step, out_size[3], out_batch;
    cudaStream_t stream;
} Plan;
static Plan plans[PLANS];
static int plan_count = 1;

static Plan *plan_of(int handle) { return handle > 0 && handle < plan_count && plans[handle].made ? plans + handle : NULL; }
int cufftCreate(int *handle) {
    if (plan_count == PLANS) return 2;
    plans[*handle = plan_count++].made = 1;
    return 0;
}
int cufftDestroy(int handle) { return plan_of(handle) ? (plan_of(handle)->made = 0) : INVALID_PLAN; }
static int make(int handle, int rank, const long long *n, const long long *in, Word is, Word id, const long long *out, Word os, Word od, int type, Word batch, size_t *work) {
    Plan *p = plan_of(handle);
    if (!p) return INVALID_PLAN;
    if (type != C2C && type != R2C && type != C2R && type != Z2Z && type != D2Z && type != Z2D) return INVALID_TYPE;
    if (rank < 1 || rank > 3 || batch < 1) return INVALID_VALUE;
    p->type = type, p->rank = rank, p->batch = batch, p->in_step = p->out_step = 0;
    for (int i = 0; i < 3; i++) {
        if (i < rank && n[i] < 1) return INVALID_SIZE;
        p->size[i] = i < rank ? n[i] : 0;
        p->in_size[i] = in && i < rank ? in[i] : 0;
        p->out_size[i] = out && i < rank ? out[i] : 0;
    }
    if (in && out) p->in_step = is, p->in_batch = id, p->out_step = os, p->out_batch = od;
    if (work) *work = 0;
    return 0;
}
int cufftMakePlanMany64(int handle, int rank, long long *n, long long *in, long long is, long long id, long long *out, long long os, long long od, int type, long long batch, size_t *work) { return make(handle, rank, n, in, is, id, out, os, od, type, batch, work); }
int cufftMakePlanMany(int handle, int rank, int *n, int *in, int is, int id, int *out, int os, int od, int type, int batch, size_t *work) {
    long long sizes[3], ins[3], outs[3];
    for (int i = 0; i < rank && i < 3; i++) sizes[i] = n[i], ins[i] = in ? in[i] : 0, outs[i] = out ? out[i] : 0;
    return make(handle, rank, sizes, in ? ins : NULL, is, id, out ? outs : NULL, os, od, type, batch, work);
}
// The cufftType of two cudaDataTypes, or 0.
static int type_of(int in, int out) {
    if (in == 4 && out == 4) return C2C;
    if (in == 0 && out == 4) return R2C;
    if (in == 4 && out == 0) return C2R;
    if (in == 5 && out == 5) return Z2Z;
    if (in == 1 && out == 5) return D2Z;
    if (in == 5 && out == 1) return Z2D;
    return 0;
}
int cufftXtMakePlanMany(int handle, int rank, long long *n, long long *in, long long is, long long id, int in_type, long long *out, long long os, long long od, int out_type, long long batch, size_t *work, int compute) {
    return make(handle, rank, n, in, is, id, out, os, od, type_of(in_type, out_type), batch, work);
}
int cufftMakePlan1d(int handle, int n, int type, int batch, size_t *work) { return cufftMakePlanMany(handle, 1, &n, 0, 1, 0, 0, 1, 0, type, batch, work); }
int cufftMakePlan2d(int handle, int n, int m, int type, size_t *work) { return cufftMakePlanMany(handle, 2, (int[]){n, m}, 0, 1, 0, 0, 1, 0, type, 1, work); }
int cufftMakePlan3d(int handle, int n, int m, int k, int type, size_t *work) { return cufftMakePlanMany(handle, 3, (int[]){n, m, k}, 0, 1, 0, 0, 1, 0, type, 1, work); }
int cufftPlanMany(int *handle, int rank, int *n, int *in, int is, int id, int *out, int os, int od, int type, int batch) {
    int status = cufftCreate(handle);
    return status ? status : cufftMakePlanMany(*handle, rank, n, in, is, id, out, os, od, type, batch, NULL);
}
int cufftPlan1d(int *handle, int n, int type, int batch) { return cufftPlanMany(handle, 1, &n, 0, 1, 0, 0, 1, 0, type, batch); }
int cufftPlan2d(int *handle, int n, int m, int type) { return cufftPlanMany(handle, 2, (int[]){n, m}, 0, 1, 0, 0, 1, 0, type, 1); }
int cufftPlan3d(int *handle, int n, int m, int k, int type) { return cufftPlanMany(handle, 3, (int[]){n, m, k}, 0, 1, 0, 0, 1, 0, type, 1); }
int cufftSetStream(int handle, cudaStream_t s) { return plan_of(handle) ? (plan_of(handle)->stream = s, 0) : INVALID_PLAN; }
int cufftSetAutoAllocation(int handle, int automatic) { return plan_of(handle) ? 0 : INVALID_PLAN; }
int cufftSetWorkArea(int handle, void *work) { return plan_of(handle) ? 0 : INVALID_PLAN; }
int cufftGetSize(int handle, size_t *n) { *n = 0; return plan_of(handle) ? 0 : INVALID_PLAN; }
int cufftGetVersion(int *version) { *version = CUDART_VERSION / 1000 * 1000; return 0; }

static int run(const char *name, int handle, int type, const void *in, void *out, int direction) {
    Plan *p = plan_of(handle);
    if (!p) return INVALID_PLAN;
    if (p->type != type) return INVALID_TYPE;
    Word status = emulator_ask("cufft", W(p->stream), WORDS(W(name), 0, type, direction, p->rank, p->size[0], p->size[1], p->size[2], p->batch,
        W(in), p->in_step, p->in_size[0], p->in_size[1], p->in_size[2], p->in_batch,
        W(out), p->out_step, p->out_size[0], p->out_size[1], p->out_size[2], p->out_batch));
    return status >= 100 ? EXEC_FAILED : (int)status;
}
int cufftExecC2C(int handle, void *in, void *out, int direction) { return run("cufftExecC2C", handle, C2C, in, out, direction); }
int cufftExecZ2Z(int handle, void *in, void *out, int direction) { return run("cufftExecZ2Z", handle, Z2Z, in, out, direction); }
int cufftExecR2C(int handle, void *in, void *out) { return run("cufftExecR2C", handle, R2C, in, out, -1); }
int cufftExecD2Z(int handle, void *in, void *out) { return run("cufftExecD2Z", handle, D2Z, in, out, -1); }
int cufftExecC2R(int handle, void *in, void *out) { return run("cufftExecC2R", handle, C2R, in, out, 1); }
int cufftExecZ2D(int handle, void *in, void *out) { return run("cufftExecZ2D", handle, Z2D, in, out, 1); }
int cufftXtExec(int handle, void *in, void *out, int direction) {
    Plan *p = plan_of(handle);
    int type = p ? p->type : 0;
    if (type == R2C || type == D2Z) direction = -1;
    if (type == C2R || type == Z2D) direction = 1;
    return run("cufftXtExec", handle, type, in, out, direction);
}
