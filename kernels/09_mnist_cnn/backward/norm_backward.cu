// dx = the gradient of batch norm's input, in fp32. The loss depends on x by its own result, by the
// mean and by the variance, and each brings a term; dgamma and dbeta are the channel's sums of
// norm_backward_sums.cu. x, dy and dx are N x C x P, with P pixels an image. Takes any shape with
// fewer than 2^31 elements (indices are int). dx may be dy.
// grid (ceil(N C P / 256)), block 256, dynamic shared 0

extern "C" __global__ void norm_backward(const float *x, const float *mean, const float *rstd,
                                         const float *gamma, const float *dgamma,
                                         const float *dbeta, const float *dy, float *dx, int N,
                                         int C, int P)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N * C * P) {
        // TODO: the gradient of x[i], by its own result, by the mean and by the variance
        // SOLUTION
        int c = i / P % C;
        float normalised = (x[i] - mean[c]) * rstd[c];
        float through_batch = (dbeta[c] + normalised * dgamma[c]) / (N * P);
        dx[i] = gamma[c] * rstd[c] * (dy[i] - through_batch);
        // END
    }
}
