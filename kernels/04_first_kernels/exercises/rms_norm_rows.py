import triton
import triton.language as tl


@triton.jit
def rms_norm_rows(x, weight, y, columns, stride, eps, BLOCK: tl.constexpr):
    """Program r does row r: y = x / sqrt(mean of x * x + eps) * weight, for `columns` floats.
    Row r of x and of y begins at r * stride. BLOCK is a power of two that is not below columns."""
    # TODO: write the program
    # SOLUTION
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * stride + column, mask=inside, other=0.0)
    scale = 1 / tl.sqrt(tl.sum(value * value, axis=0) / columns + eps)
    factor = tl.load(weight + column, mask=inside, other=0.0)
    tl.store(y + row * stride + column, value * scale * factor, mask=inside)
    # END
