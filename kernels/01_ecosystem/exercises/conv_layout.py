def to_channels_last(weights):
    """The weights of a convolution, from PyTorch's order (outputs, inputs, rows, columns) to that
    of Keras, JAX and TensorFlow: (rows, columns, inputs, outputs). No number changes."""
    outputs, inputs, rows, columns = weights.shape
    # BUG
    #| return weights.reshape(rows, columns, inputs, outputs)
    # SOLUTION
    return weights.transpose(2, 3, 1, 0)
    # END
