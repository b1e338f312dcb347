// The network of chapter 09 on the CPU: (3 x 3 convolution -> batch norm -> ReLU -> 2 x 2 max pool)
// twice, linear -> ReLU -> linear, cross entropy. Images are N x 1 x 28 x 28.
// Parameters and gradients are one array each, in the order of the enum; running has the mean and
// the variance of 16 channels, then of 32.
// Build: cc -O2 -shared -fPIC network.c layers.c products_plain.c -o network.so -lm

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "layers.h"

enum { SIDE = 28, C1 = 16, C2 = 32, FLAT = C2 * 7 * 7, HIDDEN = 128, CLASSES = 10 };
enum { P0 = SIDE * SIDE, P1 = P0 / 4, P2 = P1 / 4 }; // pixels before, between and behind the pools
enum {
    CONV1 = 0,
    GAMMA1 = CONV1 + C1 * 9,
    BETA1 = GAMMA1 + C1,
    CONV2 = BETA1 + C1,
    GAMMA2 = CONV2 + C2 * C1 * 9,
    BETA2 = GAMMA2 + C2,
    WEIGHT3 = BETA2 + C2,
    BIAS3 = WEIGHT3 + HIDDEN * FLAT,
    WEIGHT4 = BIAS3 + HIDDEN,
    BIAS4 = WEIGHT4 + CLASSES * HIDDEN,
    PARAMETERS = BIAS4 + CLASSES
};
enum { MEAN1 = 0, VARIANCE1 = C1, MEAN2 = 2 * C1, VARIANCE2 = 2 * C1 + C2 };

const int parameters = PARAMETERS;
enum { CONVOLUTION, CONVOLUTION_BACK, LINEAR, LINEAR_BACK, NORM, RELU, POOL, KINDS };
double seconds[KINDS]; // spent in each kind of layer so far

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define TIMED(kind, call)                                                                         \
    do {                                                                                          \
        const double start = now();                                                               \
        call;                                                                                     \
        seconds[kind] += now() - start;                                                           \
    } while (0)

// Every tensor on the way from N images to their logits, and room for two gradients.
struct Work {
    int N;
    real mean1[C1], rstd1[C1], mean2[C2], rstd2[C2];
    real *conv1, *norm1, *relu1, *pool1, *conv2, *norm2, *relu2, *pool2;
    real *linear3, *relu3, *logits, *flow, *other;
};

// Room for N images; NULL where there is none. free() gives all of it back.
struct Work *new_work(int N)
{
    const int sizes[] = {C1 * P0, C1 * P0, C1 * P0, C1 * P1, C2 * P1, C2 * P1, C2 * P1,
                         FLAT,    HIDDEN,  HIDDEN,  CLASSES, C1 * P0, C1 * P0};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    size_t each = 0;
    for (int k = 0; k < COUNT; ++k) {
        each += sizes[k];
    }
    struct Work *work = malloc(sizeof *work + each * N * sizeof(real));
    if (work == NULL) {
        return NULL;
    }
    real **tensors[COUNT] = {&work->conv1, &work->norm1,   &work->relu1, &work->pool1, &work->conv2,
                             &work->norm2, &work->relu2,   &work->pool2, &work->linear3,
                             &work->relu3, &work->logits, &work->flow,  &work->other};
    real *next = (real *)(work + 1);
    for (int k = 0; k < COUNT; ++k) {
        *tensors[k] = next;
        next += (size_t)sizes[k] * N;
    }
    work->N = N;
    return work;
}

void free_work(struct Work *work)
{
    free(work);
}

static void statistics(int training, const real *x, real *mean, real *rstd, real *running, int N,
                       int C, int P)
{
    if (training) {
        norm_statistics(x, mean, rstd, running, running + C, N, C, P);
        return;
    }
    for (int c = 0; c < C; ++c) {
        mean[c] = running[c];
        rstd[c] = 1 / sqrt(running[C + c] + norm_eps);
    }
}

// In training the batch's own mean and variance are used, and the running ones moved. Returns the
// logits, N x 10, which lie in work.
const real *forward(const real *p, real *running, const real *x, int training, struct Work *a)
{
    const int N = a->N;
    TIMED(CONVOLUTION, conv_forward(x, p + CONV1, a->conv1, N, 1, 28, 28, C1));
    TIMED(NORM, statistics(training, a->conv1, a->mean1, a->rstd1, running + MEAN1, N, C1, P0));
    TIMED(NORM, norm_forward(a->conv1, a->mean1, a->rstd1, p + GAMMA1, p + BETA1, a->norm1, N, C1,
                             P0));
    TIMED(RELU, relu_forward(a->norm1, a->relu1, N * C1 * P0));
    TIMED(POOL, pool_forward(a->relu1, a->pool1, N * C1, 28, 28));
    TIMED(CONVOLUTION, conv_forward(a->pool1, p + CONV2, a->conv2, N, C1, 14, 14, C2));
    TIMED(NORM, statistics(training, a->conv2, a->mean2, a->rstd2, running + MEAN2, N, C2, P1));
    TIMED(NORM, norm_forward(a->conv2, a->mean2, a->rstd2, p + GAMMA2, p + BETA2, a->norm2, N, C2,
                             P1));
    TIMED(RELU, relu_forward(a->norm2, a->relu2, N * C2 * P1));
    TIMED(POOL, pool_forward(a->relu2, a->pool2, N * C2, 14, 14));
    TIMED(LINEAR, linear_forward(a->pool2, p + WEIGHT3, p + BIAS3, a->linear3, N, FLAT, HIDDEN));
    TIMED(RELU, relu_forward(a->linear3, a->relu3, N * HIDDEN));
    TIMED(LINEAR, linear_forward(a->relu3, p + WEIGHT4, p + BIAS4, a->logits, N, HIDDEN, CLASSES));
    return a->logits;
}

double loss(const unsigned char *label, const struct Work *a)
{
    return cross_entropy_forward(a->logits, label, a->N, CLASSES);
}

// The gradient d of the batch's mean loss by each parameter, after forward in training: the layers
// from the last to the first. `a` and `b` take turns as the gradient that flows back.
void backward(const real *p, real *d, const real *x, const unsigned char *label, struct Work *at)
{
    const int N = at->N;
    real *a = at->flow, *b = at->other;
    cross_entropy_backward(at->logits, label, a, N, CLASSES);
    TIMED(LINEAR_BACK,
          linear_backward_weight(a, at->relu3, d + WEIGHT4, d + BIAS4, N, HIDDEN, CLASSES));
    TIMED(LINEAR_BACK, linear_backward_input(a, p + WEIGHT4, b, N, HIDDEN, CLASSES));
    TIMED(RELU, relu_backward(at->relu3, b, b, N * HIDDEN));
    TIMED(LINEAR_BACK,
          linear_backward_weight(b, at->pool2, d + WEIGHT3, d + BIAS3, N, FLAT, HIDDEN));
    TIMED(LINEAR_BACK, linear_backward_input(b, p + WEIGHT3, a, N, FLAT, HIDDEN));

    TIMED(POOL, pool_backward(at->relu2, a, b, N * C2, 14, 14));
    TIMED(RELU, relu_backward(at->relu2, b, b, N * C2 * P1));
    TIMED(NORM, norm_backward(at->conv2, at->mean2, at->rstd2, p + GAMMA2, b, b, d + GAMMA2,
                              d + BETA2, N, C2, P1));
    TIMED(CONVOLUTION_BACK,
          conv_backward_weight(at->pool1, b, d + CONV2, N, C1, 14, 14, C2));
    TIMED(CONVOLUTION_BACK, conv_backward_input(b, p + CONV2, a, N, C1, 14, 14, C2));

    TIMED(POOL, pool_backward(at->relu1, a, b, N * C1, 28, 28));
    TIMED(RELU, relu_backward(at->relu1, b, b, N * C1 * P0));
    TIMED(NORM, norm_backward(at->conv1, at->mean1, at->rstd1, p + GAMMA1, b, b, d + GAMMA1,
                              d + BETA1, N, C1, P0));
    TIMED(CONVOLUTION_BACK, conv_backward_weight(x, b, d + CONV1, N, 1, 28, 28, C1));
}
