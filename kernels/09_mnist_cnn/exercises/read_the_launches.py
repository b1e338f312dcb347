def found(question):
    """The kernel that a question means, as the list spells it, and its number.

    "arithmetic"  the kernel with the most FLOPs, and its share of all of them
    "images"      for a large batch: most KB of arrays that grow with it, and the share of them
    "launches"    the kernel that is launched most often, and its share of all launches
    "one image"   in a step of one image: most KB of arrays and of the rest together, and how many
    "reuse"       with 8 images: most KB asked for, for each KB of arrays and rest, and how many
    """
    # TODO: name and number for each of the five
    # SOLUTION
    if question == "arithmetic":
        return "conv_backward_weight", 2.32 / 7.85
    if question == "images":
        return "relu_backward", 222 / 1451
    if question == "launches":
        return "sgd", 10 / 41
    if question == "one image":
        return "sgd", 1617
    return "conv_backward_input", 8 * 7068 / (8 * 37 + 18)
    # END
