"""The faults of programs in C and C++, and the next step for each."""

from __future__ import annotations

from ..emulator import ASSERTION as ASSERTION  # exported: kinds of faults here as well
from ..emulator import NULL_POINTER as NULL_POINTER
from ..emulator import OUT_OF_BOUNDS as OUT_OF_BOUNDS
from ..emulator import USE_AFTER_FREE as USE_AFTER_FREE

COMPILE_ERROR = "compile error"
WRONG_NAME = "wrong name"
NO_COMPILER = "no compiler"
TIME_LIMIT = "time limit"
RESOURCE_LIMIT = "resource limit"
CRASHED = "crashed"
MEMORY_LEAK = "memory leak"
STACK_OVERFLOW = "stack overflow"
UNDEFINED = "undefined behaviour"

# Found by a sanitizer alone: without one the program may seem to be right.
BY_SANITIZER = (OUT_OF_BOUNDS, USE_AFTER_FREE, MEMORY_LEAK, UNDEFINED)
KINDS = (
    COMPILE_ERROR,
    WRONG_NAME,
    TIME_LIMIT,
    RESOURCE_LIMIT,
    CRASHED,
    ASSERTION,
    NULL_POINTER,
    STACK_OVERFLOW,
    *BY_SANITIZER,
)

NEXT_STEP: dict[str, str] = {
    COMPILE_ERROR: "Fix the first error and run again: later ones often follow from it.",
    WRONG_NAME: "Compare the spelling of the name where it is used and where it is defined.",
    TIME_LIMIT: "Look for a loop whose condition never becomes false, or one that does the same "
    "work again and again.",
    RESOURCE_LIMIT: "Look for a loop that allocates, prints, writes or starts without an end.",
    CRASHED: "Look at the last thing the program does before it stops: print there.",
    ASSERTION: "Print the values that the assertion compares, just before it.",
    NULL_POINTER: "The pointer is NULL: was it ever given an address?",
    OUT_OF_BOUNDS: "An array of n elements has the indices 0 to n - 1: look at the line and at the "
    "size it was made with.",
    USE_AFTER_FREE: "After free() the memory is gone: free it once, after its last use.",
    MEMORY_LEAK: "Every malloc needs its free, on every way out of the function.",
    STACK_OVERFLOW: "A function that calls itself needs a case in which it doesn't. Allocate large "
    "arrays with malloc.",
    UNDEFINED: "C gives no meaning to this: the program may do anything, even what you expect.",
}

# Instead of the step above, where the report says more.
VARIABLE_GONE = (
    "A variable ends with its function or block, and so does every address of it and every "
    "reference to it: keep a copy of what is used later."
)
FREED_BY_DESTRUCTOR = (
    "The destructor freed it, and another object still has the pointer: was the object copied, or "
    "moved without leaving NULL?"
)
BEFORE_THE_BEGINNING = (
    "The index is below 0, or a size_t that went below and is very large: look at where the loop "
    "ends."
)
AFTER_DELETE = "After delete the memory is gone: delete it once, after its last use."
FREED_BY_OBJECT = (
    "The object that owned the memory freed it in that line, as a vector does when it grows: "
    "references and pointers into it end there."
)
LEAK_IN_CPP = (
    "Every new needs its delete, and every malloc its free, on every way out: does a destructor "
    "do it?"
)
# Of undefined behaviour, by words of the sanitizer's message.
UNDEFINED_STEPS = {
    "integer overflow": "An operation has the type of its operands: give one of them a wider type, "
    "such as long long or size_t, before it.",
    "cannot be represented": "Test before the operation that the result fits.",
    "division by zero": "Test the divisor before you divide: if (divisor != 0).",
    "divided by zero": "Test the divisor before you divide: if (divisor != 0).",
    "shift exponent": "Shift by 0 or more, and by less than the number of bits: test it before.",
    "misaligned address": "An address of this type is a multiple of its alignment. Go byte by "
    "byte, or copy the bytes with memcpy.",
    "outside the range": "Test that the number fits into the integer before you convert it.",
    "malloc did not return": "free takes an address that malloc, calloc or realloc returned, whole "
    "and once. Variables aren't freed.",
    "parts that overlap": "memmove copies between parts that overlap.",
    "a size below zero": "Look at how the size is computed: which difference or int is below 0?",
}
PAIRS_OF_CALLS = "Use delete[] for what new[] allocated, delete for new, and free for malloc."
