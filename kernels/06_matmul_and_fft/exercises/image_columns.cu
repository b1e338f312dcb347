// The matrix of an implicit GEMM, written out: x is N x C x H x W; the matrix has a row for each
// (channel, row of the filter, column of the filter) and a column for each pixel of the result
// (image, row, column). The filter is R x S, `pad` zeros surround each image. Any size and
// stride.
// grid (ceil(N OH OW / 128), C R S), block 128, dynamic shared 0

extern "C" __global__ void image_columns(const float *x, float *matrix, int N, int C, int H, int W,
                                         int R, int S, int stride, int pad)
{
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - S) / stride + 1;
    int pixels = N * OH * OW;
    int pixel = blockIdx.x * blockDim.x + threadIdx.x; // a column of the matrix
    int k = blockIdx.y;                                // a row of it
    if (pixel >= pixels) {
        return;
    }
    // TODO: store element (k, pixel): which image, which channel, which row and column of x?
    // SOLUTION
    int image = pixel / (OH * OW);
    int c = k / (R * S);
    int row = pixel / OW % OH * stride - pad + k / S % R;
    int column = pixel % OW * stride - pad + k % S;
    bool inside = row >= 0 && row < H && column >= 0 && column < W;
    matrix[k * pixels + pixel] = inside ? x[((image * C + c) * H + row) * W + column] : 0.0f;
    // END
}
