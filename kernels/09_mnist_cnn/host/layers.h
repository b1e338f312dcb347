// The layers of the network on the CPU. All arrays are row-major, images N x C x H x W, P is H W;
// dx, dy and dw are gradients: of the loss by x, y and w. Any shape with fewer than 2^31 elements.
#pragma once

#ifndef real
#define real float // -Dreal=double: twice the bytes, and enough digits for finite differences
#endif

// In products_plain.c by their definition, in products_fast.c the same results faster.
void conv_forward(const real *x, const real *w, real *y, int N, int C, int H, int W, int F);
void conv_backward_input(const real *dy, const real *w, real *dx, int N, int C, int H, int W,
                         int F);
void conv_backward_weight(const real *x, const real *dy, real *dw, int N, int C, int H, int W,
                          int F);
void linear_forward(const real *x, const real *w, const real *b, real *y, int N, int I, int O);
void linear_backward_input(const real *dy, const real *w, real *dx, int N, int I, int O);
void linear_backward_weight(const real *dy, const real *x, real *dw, real *db, int N, int I, int O);

// In layers.c.
void norm_statistics(const real *x, real *mean, real *rstd, real *running_mean,
                     real *running_variance, int N, int C, int P);
void norm_forward(const real *x, const real *mean, const real *rstd, const real *gamma,
                  const real *beta, real *y, int N, int C, int P);
void norm_backward(const real *x, const real *mean, const real *rstd, const real *gamma,
                   const real *dy, real *dx, real *dgamma, real *dbeta, int N, int C, int P);
void relu_forward(const real *x, real *y, int n);
void relu_backward(const real *y, const real *dy, real *dx, int n);
void pool_forward(const real *x, real *y, int M, int H, int W);
void pool_backward(const real *x, const real *dy, real *dx, int M, int H, int W);
double cross_entropy_forward(const real *z, const unsigned char *label, int N, int K);
void cross_entropy_backward(const real *z, const unsigned char *label, real *dz, int N, int K);
void sgd(real *w, const real *dw, real rate, int n);

extern const real norm_eps;
