def holder(place, threads, items, arrangement):
    """The thread that holds the element ``place`` of a tile, and which of its items it is.
    ``arrangement`` is "blocked", "striped" or "warp-striped"; a warp has 32 threads, and
    ``threads`` is a multiple of 32."""
    # TODO: which elements does thread 0 hold in each arrangement, and which thread 1?
    # SOLUTION
    if arrangement == "blocked":
        return place // items, place % items
    width = 32 if arrangement == "warp-striped" else threads
    group, within = divmod(place, width * items)
    return group * width + within % width, within // width
    # END
