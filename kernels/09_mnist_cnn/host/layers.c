// The layers that do not multiply matrices: batch norm, ReLU, max pool, cross entropy, and the step
// of plain stochastic gradient descent. layers.h names their arrays.
// Sums over a batch are kept in double: one at a time, a CPU adds doubles as fast as floats.
// Limit: each layer reads and writes whole tensors, a few operations for each number.

#include <math.h>

#include "layers.h"

const real norm_eps = 1e-5; // added to a variance, as PyTorch does
static const real kMomentum = 0.1;

// Mean and 1 / deviation of each channel over the batch; the running ones move towards them, with
// the variance of a sample (divided by N P - 1).
void norm_statistics(const real *x, real *mean, real *rstd, real *running_mean,
                     real *running_variance, int N, int C, int P)
{
    const double count = (double)N * P;
    for (int c = 0; c < C; ++c) {
        double sum = 0, squares = 0;
        for (int n = 0; n < N; ++n) {
            for (int p = 0; p < P; ++p) {
                sum += x[(n * C + c) * P + p];
            }
        }
        const double center = sum / count;
        for (int n = 0; n < N; ++n) {
            for (int p = 0; p < P; ++p) {
                const double distance = x[(n * C + c) * P + p] - center;
                squares += distance * distance;
            }
        }
        mean[c] = center;
        rstd[c] = 1 / sqrt(squares / count + norm_eps);
        if (count > 1) {
            running_mean[c] += kMomentum * (center - running_mean[c]);
            running_variance[c] += kMomentum * (squares / (count - 1) - running_variance[c]);
        }
    }
}

void norm_forward(const real *x, const real *mean, const real *rstd, const real *gamma,
                  const real *beta, real *y, int N, int C, int P)
{
    for (int plane = 0; plane < N * C; ++plane) {
        const int c = plane % C;
        for (int i = plane * P; i < (plane + 1) * P; ++i) {
            y[i] = gamma[c] * (x[i] - mean[c]) * rstd[c] + beta[c];
        }
    }
}

// dx may be dy. x reaches the loss by its own result, by the mean and by the variance.
void norm_backward(const real *x, const real *mean, const real *rstd, const real *gamma,
                   const real *dy, real *dx, real *dgamma, real *dbeta, int N, int C, int P)
{
    for (int c = 0; c < C; ++c) {
        double of_gamma = 0, of_beta = 0;
        for (int n = 0; n < N; ++n) {
            for (int i = (n * C + c) * P; i < (n * C + c + 1) * P; ++i) {
                of_gamma += dy[i] * (x[i] - mean[c]) * rstd[c];
                of_beta += dy[i];
            }
        }
        dgamma[c] = of_gamma;
        dbeta[c] = of_beta;
        const real of_normalised = of_gamma / ((double)N * P), of_all = of_beta / ((double)N * P);
        for (int n = 0; n < N; ++n) {
            for (int i = (n * C + c) * P; i < (n * C + c + 1) * P; ++i) {
                const real normalised = (x[i] - mean[c]) * rstd[c];
                dx[i] = gamma[c] * rstd[c] * (dy[i] - of_all - normalised * of_normalised);
            }
        }
    }
}

void relu_forward(const real *x, real *y, int n)
{
    for (int i = 0; i < n; ++i) {
        y[i] = x[i] <= 0 ? 0 : x[i];
    }
}

// dx may be dy; y is what relu_forward made.
void relu_backward(const real *y, const real *dy, real *dx, int n)
{
    for (int i = 0; i < n; ++i) {
        dx[i] = y[i] <= 0 ? 0 : dy[i];
    }
}

// The largest of each 2 x 2 pixels of M planes with even sides.
void pool_forward(const real *x, real *y, int M, int H, int W)
{
    for (int row = 0; row < M * H / 2; ++row) { // of all planes: they lie one below the other
        const real *upper = x + 2 * row * W, *lower = upper + W;
        for (int s = 0; s < W / 2; ++s) {
            const real left = upper[2 * s] >= lower[2 * s] ? upper[2 * s] : lower[2 * s];
            const real right =
                upper[2 * s + 1] >= lower[2 * s + 1] ? upper[2 * s + 1] : lower[2 * s + 1];
            y[row * (W / 2) + s] = left >= right ? left : right;
        }
    }
}

// dy goes to the largest of each 2 x 2 pixels of x, to the first of them where some are equal.
void pool_backward(const real *x, const real *dy, real *dx, int M, int H, int W)
{
    for (int row = 0; row < M * H / 2; ++row) {
        for (int s = 0; s < W / 2; ++s) {
            const int corner = 2 * row * W + 2 * s;
            const int place[4] = {corner, corner + 1, corner + W, corner + W + 1};
            int winner = 0;
            for (int k = 1; k < 4; ++k) {
                winner = x[place[k]] > x[place[winner]] ? k : winner;
            }
            for (int k = 0; k < 4; ++k) {
                dx[place[k]] = k == winner ? dy[row * (W / 2) + s] : 0;
            }
        }
    }
}

// The largest of a row, and the sum of exp(z - largest): no exponential overflows.
static void row_sums(const real *z, int K, real *largest, double *sum)
{
    *largest = z[0];
    *sum = 0;
    for (int k = 1; k < K; ++k) {
        *largest = z[k] > *largest ? z[k] : *largest;
    }
    for (int k = 0; k < K; ++k) {
        *sum += exp(z[k] - *largest);
    }
}

// The mean over the batch of -log(softmax(z)[label]).
double cross_entropy_forward(const real *z, const unsigned char *label, int N, int K)
{
    double loss = 0, sum;
    real largest;
    for (int n = 0; n < N; ++n) {
        row_sums(z + n * K, K, &largest, &sum);
        loss += log(sum) - (z[n * K + label[n]] - largest);
    }
    return loss / N;
}

void cross_entropy_backward(const real *z, const unsigned char *label, real *dz, int N, int K)
{
    double sum;
    real largest;
    for (int n = 0; n < N; ++n) {
        row_sums(z + n * K, K, &largest, &sum);
        for (int k = 0; k < K; ++k) {
            dz[n * K + k] = (exp(z[n * K + k] - largest) / sum - (k == label[n])) / N;
        }
    }
}

void sgd(real *w, const real *dw, real rate, int n)
{
    for (int i = 0; i < n; ++i) {
        w[i] -= rate * dw[i];
    }
}
