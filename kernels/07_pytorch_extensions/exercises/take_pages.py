def take_pages(free, tables, lengths, page):
    """Make room for one more token of each sequence of a paged cache.

    free: a list of the numbers of free pages. The last one is taken first. tables: for each
    sequence the list of its pages, in the order of its tokens. lengths: how many tokens each has.
    page: tokens of a page. Sequences are served in their order. One that needs a page while none
    is free waits: its table and its length stay. Returns (free, tables, lengths) afterwards, and
    changes no argument.
    """
    # TODO: serve the sequences one after the other
    # STARTER
    #| return free, tables, lengths
    # SOLUTION
    free, tables, lengths = list(free), [list(table) for table in tables], list(lengths)
    for s, length in enumerate(lengths):
        if length == page * len(tables[s]):
            if not free:
                continue
            tables[s].append(free.pop())
        lengths[s] += 1
    return free, tables, lengths
    # END
