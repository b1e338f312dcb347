import torch


def make_operator(forward, backward):
    """An operator of PyTorch, called with x and bias: max(x + bias, 0)² in the shape of x.

    forward(x, bias) returns y, and backward(y, dy) returns dx and dbias. Both launch kernels, so
    they take contiguous float32 tensors with numbers, matrices of at least one row for x, y and dy.
    The operator takes x of one dimension or more with any strides, which may have no rows, and its
    results are contiguous. Fake tensors go through it, forward and backward.
    """
    # TODO: two operators of PyTorch, with all that they need
    # SOLUTION

    @torch.library.custom_op("project::squared_relu", mutates_args=())
    def squared_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        if x.numel() == 0:
            return x.new_empty(x.shape)
        rows = x.reshape(-1, x.shape[-1]).contiguous()
        return forward(rows, bias.contiguous()).reshape(x.shape)

    @squared_relu.register_fake
    def _(x, bias):
        return x.new_empty(x.shape)

    @torch.library.custom_op("project::squared_relu_backward", mutates_args=())
    def squared_relu_backward(
        y: torch.Tensor, dy: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        columns = y.shape[-1]
        if y.numel() == 0:
            return y.new_empty(y.shape), y.new_zeros(columns)
        rows = dy.reshape(-1, columns).contiguous()
        dx, dbias = backward(y.reshape(-1, columns), rows)
        return dx.reshape(y.shape), dbias

    @squared_relu_backward.register_fake
    def _(y, dy):
        return y.new_empty(y.shape), y.new_empty(y.shape[-1])

    def keep(ctx, inputs, output):
        ctx.save_for_backward(output)

    def gradients(ctx, dy):
        return squared_relu_backward(*ctx.saved_tensors, dy)

    squared_relu.register_autograd(gradients, setup_context=keep)
    return squared_relu
    # END
