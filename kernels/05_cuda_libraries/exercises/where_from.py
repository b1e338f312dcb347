def where_from(i, threads):
    """The subsequence, the block of four in it and the number in the block, 0 to 3, from which
    element i of torch.rand comes, where PyTorch's grid has ``threads`` threads."""
    # TODO: an element's thread is known. How many of the thread's numbers came before this one?
    # SOLUTION
    before, subsequence = divmod(i, threads)
    return subsequence, before // 4, before % 4
    # END
