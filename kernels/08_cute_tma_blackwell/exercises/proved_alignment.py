import math


# A thread copies from address start + element * (c1 * s1 + c2 * s2 + ...), in bytes. Of start, each
# coordinate c and each stride s the compiler knows one thing only: a number that divides it.
def proved_alignment(start, element, modes):
    """The widest of 16, 8, 4, 2 and 1 bytes that divides the address whatever the numbers are.

    start: a divisor of the first address; element: bytes. modes: a list of (a divisor of the
    coordinate, a divisor of the stride); a divisor of 0 says that the number is 0.
    """
    # TODO: which number divides all terms of the sum?
    # SOLUTION
    common = start
    for coordinate, stride in modes:
        common = math.gcd(common, element * coordinate * stride)
    return math.gcd(common, 16)
    # END
