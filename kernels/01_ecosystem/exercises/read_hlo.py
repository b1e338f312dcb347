import re

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "s32": 4, "pred": 1}
FREE = ("parameter", "constant", "bitcast")
LINE = re.compile(r"%?([\w.-]+) = (\w+)\[([\d,]*)\]\S* ([\w-]+)\((.*?)\)")


def instructions(text):
    """(name, dtype, dimensions, operation, operands) for each line of ENTRY."""
    for line in text.partition("ENTRY")[2].splitlines():
        if found := LINE.search(line):
            name, dtype, shape, operation, operands = found.groups()
            dimensions = [int(d) for d in shape.split(",") if d]
            yield name, dtype, dimensions, operation, re.findall(r"%([\w.-]+)", operands)


def kernels_and_bytes(text):
    """How many kernels the ENTRY of a compiled HLO module runs, and how many bytes they move. Each
    instruction that is not FREE is a kernel: it reads its operands, an array that is named twice
    once, and writes its result."""
    # TODO: remember the size of every result; add those of a kernel's operands and its own
    # STARTER
    #| return 0, 0
    # SOLUTION
    size, kernels, moved = {}, 0, 0
    for name, dtype, dimensions, operation, operands in instructions(text):
        size[name] = BYTES[dtype]
        for dimension in dimensions:
            size[name] *= dimension
        if operation not in FREE:
            kernels += 1
            moved += size[name] + sum(size[operand] for operand in set(operands))
    return kernels, moved
    # END
