# TODO: write choose_page(lengths, pages, token_bytes, entry_bytes) from its first line. `lengths`
# are the tokens of each sequence, 0 or more. `pages` are the lengths to choose from, in tokens.
# Each page that a sequence has begun takes its whole length times token_bytes, and entry_bytes in
# the table. Return (page, bytes of all sequences) for the fewest bytes, and in a tie the longer
# page.
# SOLUTION
def ceil_div(a, b):
    return -(-a // b)


def choose_page(lengths, pages, token_bytes, entry_bytes):
    """The length of a page that takes the fewest bytes, and their number."""
    best = None
    for page in pages:
        pages = sum(ceil_div(length, page) for length in lengths)
        total = pages * (page * token_bytes + entry_bytes)
        key = total, -page
        if best is None or key < best:
            best = key
    return -best[1], best[0]


# END
