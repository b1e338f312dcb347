# Review scale_in_chunks, the program of the task: write review() from its first line. It returns a
# dictionary with an entry for each mistake, {line: word}. The words are
#   "bytes"   a number of elements, where bytes are meant
#   "order"   target and source have changed places
#   "part"    another part of an array than this chunk's
#   "empty"   may be 0 or less
#   "stream"  work that goes to another stream than it should
#   "early"   something is used or freed before the device is done with it
#   "leak"    something is never freed
# TODO: {2: "leak", 9: "early"} would be two mistakes, in lines 2 and 9
# SOLUTION
def review():
    """The mistakes of scale_in_chunks: line and word."""
    return {6: "bytes", 12: "empty", 15: "order", 17: "stream", 18: "part", 23: "early"}


# END
