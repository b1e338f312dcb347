import itertools


def access_bytes(shape, source, target, element):
    """The widest access, in bytes, by which every element can move: 16, 8, 4, 2 or 1."""
    # TODO: which width suits all elements, in both layouts?
    # SOLUTION
    place = {}
    for coordinate in itertools.product(*map(range, shape)):
        at, to = (
            sum(c * step for c, step in zip(coordinate, stride, strict=True))
            for stride in (source, target)
        )
        place[at] = to

    def together(at, count):
        first = at - at % count
        start = place.get(first, -1)
        return (
            start >= 0
            and start % count == 0
            and all(place.get(first + k) == start + k for k in range(count))
        )

    width = 16
    while width > element and not all(together(at, width // element) for at in place):
        width //= 2
    return width
    # END
