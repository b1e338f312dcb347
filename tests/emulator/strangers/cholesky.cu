// A = L L^T of many 4 x 4 matrices, and L L^T x = b: one to a thread, in registers.
template <typename T, int N> class SmallMatrix {
    T m[N][N];

public:
    __device__ T &operator()(int i, int j) { return m[i][j]; }
    __device__ void load(const T *src, int stride)
    {
#pragma unroll
        for (int i = 0; i < N; ++i)
#pragma unroll
            for (int j = 0; j < N; ++j) m[i][j] = src[(i * N + j) * stride];
    }
    __device__ bool cholesky()
    {
#pragma unroll
        for (int j = 0; j < N; ++j) {
            T d = m[j][j];
#pragma unroll
            for (int k = 0; k < j; ++k) d -= m[j][k] * m[j][k];
            if (!(d > T(0))) return false;
            m[j][j] = sqrt(d);
#pragma unroll
            for (int i = j + 1; i < N; ++i) {
                T s = m[i][j];
#pragma unroll
                for (int k = 0; k < j; ++k) s -= m[i][k] * m[j][k];
                m[i][j] = s / m[j][j];
            }
        }
        return true;
    }
    __device__ void solve(T (&x)[N])
    {
        for (int i = 0; i < N; ++i) {
            for (int k = 0; k < i; ++k) x[i] -= m[i][k] * x[k];
            x[i] /= m[i][i];
        }
        for (int i = N - 1; i >= 0; --i) {
            for (int k = i + 1; k < N; ++k) x[i] -= m[k][i] * x[k];
            x[i] /= m[i][i];
        }
    }
};

extern "C" __global__ void potrs_4x4(const double *a, double *b, int *info, int batch)  // SoA
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch) return;
    SmallMatrix<double, 4> m;
    m.load(a + t, batch);
    const bool ok = m.cholesky();
    info[t] = !ok;
    if (!ok) return;
    double x[4];
    for (int i = 0; i < 4; ++i) x[i] = b[i * batch + t];
    m.solve(x);
    for (int i = 0; i < 4; ++i) b[i * batch + t] = x[i];
}
