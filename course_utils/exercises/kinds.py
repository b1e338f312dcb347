"""Every kind of verdict an exercise can get, and the next step for those that `check` lacks."""

from __future__ import annotations

from ..checking.kinds import (
    ALL_ZEROS,
    EDGES,
    FIRST_BLOCK,
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
)
from ..checking.kinds import NEXT_STEP as CHECK_STEPS
from ..emulator.report import (
    ASSERTION,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    ENDLESS_LOOP,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TRAP,
    UNKNOWN_INSTRUCTION,
)

NOT_STARTED = "not started"
EMPTY = "empty cell"
COMPILE_ERROR = "compile error"
WRONG_NAME = "wrong kernel name"
WRONG_SIGNATURE = "wrong signature"
LAUNCH_ERROR = "launch error"
INPUT_CHANGED = "input changed"
TARGET_MISSED = "target missed"
TIME_LIMIT = "time limit"
CRASHED = "crashed"
OUR_FAULT = "our fault"

FAULTS = (
    OUT_OF_BOUNDS,
    MISALIGNED,
    NULL_POINTER,
    DATA_RACE,
    ENDLESS_LOOP,
    DEADLOCK,
    BARRIER,
    ASSERTION,
    TRAP,
    UNKNOWN_INSTRUCTION,
)
RESULTS = (
    ALL_ZEROS,
    EDGES,
    FIRST_BLOCK,
    NOTHING_WRITTEN,
    OFF_BY_ONE,
    PARTLY_WRITTEN,
    PRECISION,
    REVERSED,
    SCALED,
    TRANSPOSED,
    UNINITIALISED,
    WRONG,
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
    TIME_LIMIT,
    CRASHED,
    OUR_FAULT,
    *FAULTS,
    *RESULTS,
)

NEXT_STEP: dict[str, str] = {
    **CHECK_STEPS,
    NOT_STARTED: "Fill in what the TODO comments ask for, then run the cell.",
    EMPTY: 'Bring the starter back with reset("{id}").',
    COMPILE_ERROR: "Mend the first error and run again: later ones often follow from it.",
    WRONG_NAME: "Give the kernel the name it is launched by.",
    WRONG_SIGNATURE: "Take the parameter list from the starter: the launch passes exactly those.",
    LAUNCH_ERROR: "Compare the kernel's demands with the launch in the comment at its top.",
    INPUT_CHANGED: "Write only to the output; const in the parameter list helps you to.",
    TARGET_MISSED: "The result is right; now make it faster.",
    TIME_LIMIT: "Look for a loop whose condition never becomes false.",
    CRASHED: "Run it on the emulator, which names the line.",
    OUT_OF_BOUNDS: "Which threads have nothing to do here? Guard the access with a comparison.",
    MISALIGNED: "A vector access needs an address that is a multiple of its size.",
    NULL_POINTER: "The pointer is NULL: was it ever given an address?",
    DATA_RACE: "Two threads meet at one place without an order: give each its own element, or put "
    "__syncthreads() between the write and the read.",
    ENDLESS_LOOP: "Check that the loop's variable changes, and in the right direction.",
    DEADLOCK: "Some threads wait for others that will never come.",
    BARRIER: "Every thread of the block must reach each __syncthreads(): move it out of the if.",
    ASSERTION: "An assert in the kernel does not hold: see its line.",
    TRAP: "The kernel stopped itself with a trap.",
    UNKNOWN_INSTRUCTION: "The emulator cannot run this yet; on a GPU it would.",
    OUR_FAULT: "This is a mistake of the course, not yours. Please report it with your cell.",
}
