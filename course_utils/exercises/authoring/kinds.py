"""Every kind of verdict an exercise can get, and the next step for those that `check` lacks."""

from __future__ import annotations

from ...checking.error_kinds import (
    ALL_ZEROS,
    EDGES,
    FIRST_BLOCK,
    NOT_A_NUMBER,
    NOTHING_WRITTEN,
    OFF_BY_ONE,
    PARTLY_WRITTEN,
    PASS,
    PRECISION,
    REVERSED,
    SCALED,
    TRANSPOSED,
    UNINITIALISED,
    WRONG,
    WRONG_DTYPE,
    WRONG_SHAPE,
)
from ...checking.error_kinds import NEXT_STEP as CHECK_STEPS
from ...compiling.host_compilers import HOW_TO_GET
from ...emulator import (
    ASSERTION,
    BAD_TENSOR_MAP,
    BAD_TEXTURE,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    EMULATOR_ERROR,
    ENDLESS_LOOP,
    IN_FLIGHT,
    LAUNCH_CONTROL,
    LAUNCH_REFUSED,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    TRAP,
    UNKNOWN_INSTRUCTION,
    USE_AFTER_FREE,
)
from ...emulator import KIND_STEPS as FAULT_STEPS
from ...emulator import KINDS as FAULTS
from ...host_programs.host_kinds import (
    COMPILE_ERROR,
    CRASHED,
    MEMORY_LEAK,
    NO_COMPILER,
    RESOURCE_LIMIT,
    STACK_OVERFLOW,
    TIME_LIMIT,
    UNDEFINED,
    WRONG_NAME,
)
from ...host_programs.host_kinds import NEXT_STEP as HOST_STEPS

__all__ = [
    "ALL_ZEROS",
    "ASSERTION",
    "BAD_TENSOR_MAP",
    "BAD_TEXTURE",
    "BARRIER",
    "COMPILE_ERROR",
    "COPIED",
    "CRASHED",
    "DATA_RACE",
    "DEADLOCK",
    "EDGES",
    "EMPTY",
    "EMULATOR_ERROR",
    "ENDLESS_LOOP",
    "EXCEPTION",
    "FIRST_BLOCK",
    "INPUT_CHANGED",
    "IN_C",
    "IN_FLIGHT",
    "IN_PYTHON",
    "KINDS",
    "LAUNCH_CONTROL",
    "LAUNCH_ERROR",
    "LAUNCH_REFUSED",
    "MEMORY_LEAK",
    "METHOD_MISSING",
    "MISALIGNED",
    "NOTHING_PRINTED",
    "NOTHING_RETURNED",
    "NOTHING_WRITTEN",
    "NOT_A_NUMBER",
    "NOT_HERE",
    "NOT_STARTED",
    "NO_COMPILER",
    "NO_PACKAGE",
    "NULL_POINTER",
    "OFF_BY_ONE",
    "ORDER",
    "OUR_FAULT",
    "OUT_OF_BOUNDS",
    "PARTLY_WRITTEN",
    "PASS",
    "PRECISION",
    "RESOURCE_LIMIT",
    "RESULTS",
    "REVERSED",
    "SCALED",
    "STACK_OVERFLOW",
    "SYNTAX_ERROR",
    "TARGET_MISSED",
    "TENSOR_MEMORY",
    "TIME_LIMIT",
    "TOO_SLOW",
    "TRANSPOSED",
    "TRAP",
    "UNDEFINED",
    "UNINITIALISED",
    "UNKNOWN_INSTRUCTION",
    "USE_AFTER_FREE",
    "WITH_CASE",
    "WRONG",
    "WRONG_DTYPE",
    "WRONG_NAME",
    "WRONG_NUMBER",
    "WRONG_OUTPUT",
    "WRONG_SHAPE",
    "WRONG_SIGNATURE",
    "WRONG_TYPE",
]

NOT_STARTED = "not started"
EMPTY = "empty cell"
WRONG_SIGNATURE = "wrong signature"
LAUNCH_ERROR = "launch error"
INPUT_CHANGED = "input changed"
TARGET_MISSED = "target missed"
METHOD_MISSING = "method missing"
COPIED = "copied answer"
ORDER = "depends on the order"
TOO_SLOW = "too slow"
SYNTAX_ERROR = "syntax error"
EXCEPTION = "exception"
NOTHING_RETURNED = "nothing returned"
WRONG_TYPE = "wrong type"
WRONG_NUMBER = "wrong number"
NOTHING_PRINTED = "nothing printed"
WRONG_OUTPUT = "wrong output"
NO_PACKAGE = "no package"
OUR_FAULT = "our fault"

NOT_HERE = (NO_COMPILER, NO_PACKAGE)  # the machine lacks something: no answer is judged

RESULTS = tuple(CHECK_STEPS)
IN_PYTHON = (SYNTAX_ERROR, EXCEPTION, NOTHING_RETURNED, WRONG_TYPE, WRONG_NUMBER)
IN_C = (
    NOTHING_PRINTED,
    WRONG_OUTPUT,
    USE_AFTER_FREE,
    MEMORY_LEAK,
    STACK_OVERFLOW,
    UNDEFINED,
    RESOURCE_LIMIT,
    NO_COMPILER,
)
KINDS = (
    PASS,
    NOT_STARTED,
    EMPTY,
    COMPILE_ERROR,
    WRONG_NAME,
    WRONG_SIGNATURE,
    LAUNCH_ERROR,
    INPUT_CHANGED,
    TARGET_MISSED,
    METHOD_MISSING,
    ORDER,
    COPIED,
    TIME_LIMIT,
    TOO_SLOW,
    CRASHED,
    *IN_PYTHON,
    *IN_C,
    NO_PACKAGE,
    OUR_FAULT,
    *(kind for kind in FAULTS if kind not in IN_C and kind not in RESULTS),
    *RESULTS,
)

# The step after wrong values, where a case that can be worked by hand is shown.
WITH_CASE = (
    "In the case above, which inputs give the number you got? Compare them, and what's done with "
    "them, with those that give the expected one."
)

TOO_MANY = "numbers of it count"  # of an input of the case that is too long to be shown
# The same where they are too many, and another size is right.
BESIDE_RIGHT = (
    "It's right at the first of the two sizes and wrong at the second: which of these is in "
    "between, another tile, another warp, another block? Follow the first wrong element there."
)

NEXT_STEP: dict[str, str] = {
    **FAULT_STEPS,
    **CHECK_STEPS,
    **HOST_STEPS,
    NOT_STARTED: "Fill in what the TODO comments ask for, then run the cell.",
    EMPTY: 'Bring the starter back with reset("{id}").',
    WRONG_NAME: "Keep the starter's name: the checker calls it by that name.",
    WRONG_SIGNATURE: "Take the parameter list from the starter: exactly those are passed.",
    LAUNCH_ERROR: "Compare what the kernel needs with the launch in the comment at its top.",
    INPUT_CHANGED: "Write only to the output: const in the parameter list lets the compiler "
    "catch this.",
    TARGET_MISSED: "It does more work than the target allows: compare the two counts below, then "
    "read the hints.",
    METHOD_MISSING: "The line above says where your way differs from the task's.",
    COPIED: "Write your own. When it passes, compare it with the course's.",
    ORDER: "A GPU runs blocks and warps in any order. If one thread writes an element and another "
    "reads it, put a barrier between the two: __syncwarp() in a warp, __syncthreads() in a block. "
    "A shuffle's mask names all the lanes that take part, not only the active ones. And blockIdx "
    "doesn't say which block runs last.",
    TOO_SLOW: "The loops end, but late: count how often each thread runs them, and look for work "
    "that one pass could do.",
    CRASHED: "Run it on the emulator, which names the line.",
    SYNTAX_ERROR: "Python stops at the first place it cannot read: the mistake is there or just "
    "before.",
    EXCEPTION: "Read the last line first: it says what Python could not do.",
    NOTHING_RETURNED: "This case returned without a value. End every path through the function "
    "with `return value`.",
    WRONG_TYPE: "Compare the type you return with the one expected: integers stay integers "
    "with //, int() and float() convert, and several results are returned as the task shows them.",
    WRONG_NUMBER: "Count what one thread does in one step, then multiply by the steps, by the "
    "threads, by the bytes. Which of these factors is missing, or there twice?",
    NOTHING_PRINTED: "Print the result with printf, and end the line with \\n.",
    WRONG_OUTPUT: "Follow the first wrong line back to the statement that printed it.",
    NO_COMPILER: HOW_TO_GET,
    NO_PACKAGE: "For Triton run %pip install triton in a cell (Linux, 1 GB), for PyTorch make "
    "torch in a terminal. Then restart the kernel.",
    OUR_FAULT: "This is a mistake of the course, not yours. Please report it with your cell.",
}
