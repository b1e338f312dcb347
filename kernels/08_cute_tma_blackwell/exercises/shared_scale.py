import math

# A block of numbers in an MX format shares one scale, a power of two that is stored as its exponent
# + 127 in eight bits (UE8M0): code 0 is 2^-127, 254 is 2^127. The largest numbers of the formats
# are 448 for E4M3, 57344 for E5M2 and 6 for E2M1. Of the two rules
#
#   "down"  takes the exponent of the block's largest magnitude, less the exponent of the largest
#           number of the format (448 is 1.75 * 2^8, so 8); a number that is too large for the
#           format then becomes the largest one;
#   "up"    takes the least power of two with which no number is too large.


def shared_scale(block, form, rule):
    """The code of the scale, 0 to 254, of a list of finite fp32 numbers.

    `form` is "E4M3", "E5M2" or "E2M1". Where the rule asks for less than 2^-127, the code is 0; so
    is that of a block of zeros.
    """
    # TODO: the code
    # SOLUTION
    largest = max(abs(x) for x in block)
    if largest == 0:
        return 0
    fraction, exponent = math.frexp(largest)
    most, power = math.frexp({"E4M3": 448.0, "E5M2": 57344.0, "E2M1": 6.0}[form])
    exponent -= power
    if rule == "up" and fraction > most:
        exponent += 1
    return max(exponent + 127, 0)
    # END
