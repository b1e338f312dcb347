"""The kinds of verdict, the slips that explain one, and the next step each one suggests."""

from __future__ import annotations

from enum import Enum

from ..emulator import UNINITIALISED as UNINITIALISED  # exported, as it is a kind of verdict

PASS = "pass"

# Kinds that the numbers show.
WRONG_SHAPE = "wrong shape"
WRONG_DTYPE = "wrong dtype"
NOTHING_WRITTEN = "nothing written"
PARTLY_WRITTEN = "partly written"
ALL_ZEROS = "all zeros"
NOT_A_NUMBER = "not a number"
EDGES = "wrong at the edges only"
FIRST_BLOCK = "only the beginning is right"  # one block of several, or some of many
TRANSPOSED = "transposed"
OFF_BY_ONE = "off by one"
REVERSED = "reversed"
SCALED = "scaled"
PRECISION = "precision only"
WRONG = "wrong values"


class Slip(Enum):
    """A trait that all wrong elements share, where it is more than the verdict's kind."""

    EXPONENT_SIGN = "conjugated, or reversed but for the first: the exponent's sign"
    ROLLED = "rolled along an axis"
    COUNT_AS_FACTOR = "n times too large, or too small"
    UNWRITTEN_MEMORY = "a value that comes from memory never written"
    LOOKS_UNWRITTEN = "the value of memory never written, which a store can pass on"
    OLD_VALUE = "the old value, which was stored again, or to which 0 was added"
    NEUTRAL = "0 as the start of a minimum or a maximum"
    ZEROS = "each wrong element is 0"
    WRAPPED = "the remainder of a value too large for its type"
    SHORT_INDEX = "right as far as 16 bits count"
    LEFT_OUT = "a number where NaN or an infinity is expected"
    INFINITE = "each wrong element is infinite"
    WRONG_SIGN = "each wrong element has the other sign"
    SAME_FACTOR = "each wrong element is off by one factor"
    EDGES_UNWRITTEN = "the edges were never written"
    EDGES_COUNTED_TWICE = "the edges are off by one factor"
    FACTOR_OF_SIZES = "a factor made of the sizes of an array"
    FACTOR_OF_INPUT = "a factor that is an input, or 1 over it"
    FACTOR_PER_LINE = "each row or column is off by its own factor"
    FUNCTION_OF_IT = "a root, a square or another function of the expected element"
    TOO_MANY = "a maximum or a minimum of too many elements"
    OFFSET = "each wrong element is off by one number"
    OFFSET_OF_INTEGERS = "each wrong integer is off by one number"
    SAME_VALUE = "each wrong element holds the same value"
    ELSEWHERE = "each wrong element holds another's value"
    TERMS_MISSING = "the sum of some terms only"
    TREE_OF_BLOCK = "the terms that a tree over the block's threads keeps"
    FIRST_LINES = "the first lines along an axis, each to its end"
    OFF_DIAGONAL = "the tiles whose row and column are alike"
    GRID_TOO_SMALL = "as many elements as the launch has threads"
    BLOCK_INDEX_MISSING = "the elements of one block, of several"
    OTHER_PERIOD = "the numbers start again after another number of elements"
    MIN_FOR_MAX = "the maximum of the elements whose minimum is expected, or the other way round"
    BLOCK_STRIDE = "as far as blocks reach that overlap"
    ROLES_SWAPPED = "the elements of an index that takes the block for the thread"
    THREAD_INDEX_MISSING = "the first element of each block"
    XY_SWAPPED = "as far as x reaches down the rows, and y over the columns"
    ADDED_AGAIN = "as many times the expected value as there were launches"
    COUNTED_AGAIN = "one number, a small factor too large"
    STUCK = "the number at which a float counter stops"
    HALF_SPECTRUM = "the frequencies of a transform of real numbers"
    OPERAND_LAYOUT = "the product with an operand read by columns"
    LEADING_DIMENSION = "the product with an operand read with another row length"
    OPERANDS_SWAPPED = "the product in the other order"
    OUT_OF_ORDER = "each wrong element holds another's value, as the numbers have it"
    START_VALUE = "a number that wins every comparison of a minimum or a maximum"
    START_ALONE = "the start value of a minimum or a maximum"
    INPUT_UNUSED = "the result without an input"
    INPUT_SIGN = "the result with an input's other sign"
    INPUT_FLIPPED = "the result with an input in reverse order"
    INPUT_SHIFTED = "the result with an input's neighbours"
    INPUT_ORDER = "the result with numbers of an input in another order, packed ones or neighbours"
    INPUTS_SWAPPED = "the result with two inputs exchanged"
    INPUT_FOR_ANOTHER = "the result with one input where another belongs, too"
    FIRST_FOR_ALL = "the result with the first part of an input for all"
    TILE_LAYOUT = "the result with each tile of an input transposed"

    @property
    def is_of_the_formula(self) -> bool:
        """Whether no race and no access out of bounds gives that."""
        return self in _OF_THE_FORMULA


_OF_THE_FORMULA = {
    Slip.OFF_DIAGONAL,
    Slip.TREE_OF_BLOCK,
    Slip.GRID_TOO_SMALL,
    Slip.BLOCK_INDEX_MISSING,
    Slip.OTHER_PERIOD,
    Slip.MIN_FOR_MAX,
    Slip.BLOCK_STRIDE,
    Slip.ROLES_SWAPPED,
    Slip.THREAD_INDEX_MISSING,
    Slip.XY_SWAPPED,
    Slip.ADDED_AGAIN,
    Slip.STUCK,
    Slip.HALF_SPECTRUM,
    Slip.OPERAND_LAYOUT,
    Slip.LEADING_DIMENSION,
    Slip.OPERANDS_SWAPPED,
    Slip.FACTOR_OF_SIZES,
    Slip.FACTOR_OF_INPUT,
    Slip.FUNCTION_OF_IT,
    Slip.OUT_OF_ORDER,
    Slip.START_VALUE,
    Slip.START_ALONE,
    Slip.INPUT_UNUSED,
    Slip.INPUT_SIGN,
    Slip.INPUT_FLIPPED,
    Slip.INPUT_SHIFTED,
    Slip.INPUT_ORDER,
    Slip.INPUTS_SWAPPED,
    Slip.INPUT_FOR_ANOTHER,
    Slip.FIRST_FOR_ALL,
    Slip.TILE_LAYOUT,
}

# Mistakes that no race and no access out of bounds makes.
WITHOUT_NUMBERS = (PASS, WRONG_SHAPE, WRONG_DTYPE)  # kinds that no launch explains
OF_THE_FORMULA = (*WITHOUT_NUMBERS, TRANSPOSED, REVERSED, SCALED, PRECISION)

SANITIZE = "sanitize(kernel, grid, block, args)"
MISSING_ELEMENT = (
    "which value replaces an element that isn't there? 0 is neutral for a sum, not for a "
    "minimum, a maximum or a product"
)

NEXT_STEP: dict[str, str] = {
    WRONG_SHAPE: "Print both shapes and compare them with the sizes you meant.",
    WRONG_DTYPE: "Create the output with the dtype that is expected.",
    NOTHING_WRITTEN: "Look for the line that stores the result: does any thread reach it? If one "
    "does, was an input of it never filled?",
    PARTLY_WRITTEN: "Write down which index each thread computes: some index belongs to no thread.",
    UNINITIALISED: "Give every variable and every shared element a value before you read it. "
    "An output array holds nothing useful before you write it.",
    NOT_A_NUMBER: "Find the first NaN. Only a few operations make one: 0 * inf, 0 / 0, "
    "inf / inf, inf - inf, the square root or logarithm of a negative number, and a read of memory "
    "that hasn't been written. Every operation on a NaN passes it on. "
    f"{SANITIZE} looks for the operation that made it.",
    ALL_ZEROS: "Are the inputs read at all, is the sum stored after it is complete, and did a "
    f"factor become 0, like 1 / 2 in integers? And {MISSING_ELEMENT}.",
    EDGES: "Look at the bounds guard, at whether the grid is rounded up, and at the values that a "
    f"thread at the edge reads: {MISSING_ELEMENT}.",
    FIRST_BLOCK: "Is blockIdx in every index that needs it, and is the grid large enough? In a "
    "loop, is the stride the number of all threads? Does anything end at that number? In a "
    "scan, check the carry that block 1 takes from block 0.",
    TRANSPOSED: "x goes along a row (over the columns), y down the rows, and element (row, column) "
    "is at index row * width + column.",
    OFF_BY_ONE: "Count from 0: check the first index, the last index, and < against <=.",
    REVERSED: "Check which end the index starts from.",
    SCALED: "One factor is missing or applied twice.",
    PRECISION: "Nearly right. Look for a narrower type, an integer division, a divisor that is one "
    "off, a rounding step too many, a constant with too few digits, a small term left out, or a "
    "small difference of two large numbers.",
    WRONG: "Work out the first wrong element by hand and follow its thread through the kernel.",
}

SLIP_STEP: dict[Slip, str] = {
    Slip.EXPONENT_SIGN: "Check the sign of the exponent: a forward transform has "
    "exp(-2 pi i k j / n), and the inverse has a plus. Or a conjugate is missing, or one too many.",
    Slip.ROLLED: "Compare where each order starts. A transform gives frequency 0 first, fftshift "
    "puts it in the middle and ifftshift back. Elsewhere an offset is missing, or added twice.",
    Slip.COUNT_AS_FACTOR: "One factor is missing or applied twice. If it is n itself: cuFFT's "
    "inverse transform isn't divided by n, numpy.fft.ifft is, and a mean divides its sum by n.",
    Slip.UNWRITTEN_MEMORY: "Find the read that comes before any write: an input that was never "
    "filled, an element of shared memory without a value, an accumulator that isn't set to 0. "
    f"Make the arrays again, and {SANITIZE} names it.",
    Slip.LOOKS_UNWRITTEN: "Which line stores there, and does any thread reach it? If one does, an "
    "input was never filled, or the output itself, where the kernel adds to it (+=, atomicAdd). "
    f"{SANITIZE} shows which.",
    Slip.OLD_VALUE: "The index is right and the value isn't: which number does the kernel store "
    "there, or add to it? Follow it back to the inputs.",
    Slip.NEUTRAL: "Start a minimum or a maximum with the first element, or with the type's limit: "
    "INFINITY and -INFINITY for float, INT_MAX and INT_MIN for int. 0 is neutral for a sum only. "
    "Or does a branch give 0 where the formula has another term, as a leaky ReLU has?",
    Slip.ZEROS: "Does any thread store there? If the output was made with zeros, make it with "
    f"cp.empty: an element that isn't written then shows as NaN. If one does, {MISSING_ELEMENT}.",
    Slip.WRAPPED: "Use a wider type for the value. If the output type itself is narrow, clip "
    "before you store: min(max(value, 0), 255) for an unsigned char.",
    Slip.SHORT_INDEX: "Declare the index int or size_t, not short. Or launch more blocks.",
    Slip.LEFT_OUT: "A NaN or an infinity of the input must reach the result, and 0 * inf is NaN. "
    "Look for the place that drops it: a comparison, fmaxf, a test for 0, a clamp.",
    Slip.INFINITE: "Look for a division by 0 and for an overflow: a half ends at 65,504, and expf "
    "overflows beyond 88.7, so subtract the maximum before it. "
    f"{SANITIZE} looks for the operation that made the first.",
    Slip.WRONG_SIGN: "Is a difference the wrong way round, or is a minus missing or there twice? "
    "Of complex numbers, check the sign of each exponent: a conjugate is missing, or one too many.",
    Slip.SAME_FACTOR: "Which factor or weight do these elements have that the right ones don't? Is "
    "it missing, or applied twice?",
    Slip.FACTOR_OF_SIZES: "Which of these sizes belongs in the formula? One is in the other's "
    "place, is missing, or is there twice.",
    Slip.FACTOR_OF_INPUT: "Is that input used once, and on the right side of the division?",
    Slip.FACTOR_PER_LINE: "The elements are right among themselves. A number that is computed once "
    "for each line isn't, such as its mean, its norm or its sum.",
    Slip.FUNCTION_OF_IT: "Compare the last step with the formula: a root, a square, a logarithm "
    "or a division is there that shouldn't be, or is missing.",
    Slip.TOO_MANY: "Check the first and the last element of the range, and < against <=. In a "
    "scan, does a part begin with its own result, not only those before it?",
    Slip.EDGES_UNWRITTEN: "Is the grid rounded up, (n + block - 1) / block, and does the bounds "
    "guard let the last thread through? And was each input filled to its end?",
    Slip.EDGES_COUNTED_TWICE: "Does an element at the edge count once or twice? In the answer it "
    "counts as an inner one does. Compare the weights of the two.",
    Slip.OFFSET: "Which term of the formula is that number: a constant, an input, a difference of "
    "two? It's left out, or there once too often. A sum must start at 0, and an output that it's "
    "added to (+=) must be 0 before.",
    Slip.OFFSET_OF_INTEGERS: "An index counts from 0, and may lack a whole block, or have one too "
    "many. A quotient by / is rounded towards 0, not down. A count must be 0 before each launch.",
    Slip.SAME_VALUE: "Does the index depend on the thread? Look for a value that every thread "
    "reads or writes at one address.",
    Slip.ELSEWHERE: "The values are right and their indices aren't: compare the index of the load "
    "with the index of the store, for the thread of the first wrong element. If the kernel sorts, "
    "check the direction of each comparison too.",
    Slip.OUT_OF_ORDER: "Which elements are wrong depends on the numbers, not on the index. Follow "
    "the first wrong one through the kernel, line by line: after which statement does a variable "
    "first differ from the number you expect?",
    Slip.START_VALUE: "Start a maximum at the smallest number (-infinity, INT_MIN), a minimum at "
    "the largest (+infinity, INT_MAX), and a sum at 0. A thread or lane without an element "
    "contributes the same number.",
    Slip.START_ALONE: "Which elements does this thread, warp or block compare? Its loop has no "
    "iteration, or its guard is false everywhere.",
    Slip.TERMS_MISSING: "Count the terms that each thread adds: does its loop end too early? For a "
    "tree, round the size up to a power of two and add only elements that exist: "
    "if (i + distance < n).",
    Slip.TREE_OF_BLOCK: "Launch a power of two of threads for each block. Or start the tree at the "
    "next power of two, and add only elements that exist: if (t + distance < blockDim.x).",
    Slip.FIRST_LINES: "Which number does the index lack after the first ones: a row's, an image's, "
    "a head's, blockIdx? Is a row's length right? If a loop hands something on from one to the "
    "next, are its variables set in the right order, and by the right factor?",
    Slip.OFF_DIAGONAL: "Row and column of a tile have changed places somewhere: compare the tile's "
    "first row and first column where it is loaded with those where it is stored.",
    Slip.GRID_TOO_SMALL: "Round the grid up, (n + block - 1) / block along each axis. In a "
    "grid-stride loop, the stride is gridDim.x * blockDim.x.",
    Slip.BLOCK_INDEX_MISSING: "Give each block its own elements: blockIdx.x * blockDim.x + "
    "threadIdx.x, and the same along y.",
    Slip.OTHER_PERIOD: "Compare both operands of each % and / with the formula: "
    "threadIdx.x starts again in each block, an index in the grid doesn't.",
    Slip.MIN_FOR_MAX: "Compare each comparison with the formula: is there an fmaxf instead of an "
    "fminf, or > instead of <, or the other way round?",
    Slip.BLOCK_STRIDE: "Multiply blockIdx.x by blockDim.x, not by a number that another block size "
    "had: blockIdx.x * blockDim.x + threadIdx.x.",
    Slip.ROLES_SWAPPED: "The block's number is multiplied, the thread's is added: "
    "blockIdx.x * blockDim.x + threadIdx.x.",
    Slip.THREAD_INDEX_MISSING: "Add threadIdx.x to the index: all threads of a block compute one "
    "element.",
    Slip.XY_SWAPPED: "x selects the column and y the row: column = blockIdx.x * blockDim.x + "
    "threadIdx.x, row the same with y, and the element is at row * width + column.",
    Slip.ADDED_AGAIN: "If the kernel adds to its output (+=, atomicAdd), set it to 0 before each "
    "launch: it still holds the sum of the launch before.",
    Slip.COUNTED_AGAIN: "Is each element added once? An output that the kernel adds to (+=, "
    "atomicAdd) must be 0 before each launch, and only one thread adds a sum that all lanes hold.",
    Slip.STUCK: "Count in an int, or in several parts: a float that large doesn't change when 1 is "
    "added. A sum of many terms is exact enough in float as a tree, or in double.",
    Slip.HALF_SPECTRUM: "A transform of n real numbers (rfft, R2C) gives n / 2 + 1 frequencies: "
    "frequency n - k is the conjugate of k. Compare with rfft, or fill in the others.",
    Slip.OPERAND_LAYOUT: "By rows, element (row, column) is at row * width + column. A wmma "
    "fragment's row_major or col_major says how the array in memory is stored, and cuBLAS takes "
    "every matrix as stored by columns.",
    Slip.LEADING_DIMENSION: "The leading dimension (lda, ldb, ldm) is the number of elements from "
    "one row to the next in memory: by rows, that operand's own number of columns.",
    Slip.OPERANDS_SWAPPED: "Compare the order of the operands, and each transpose, with the "
    "formula: by columns, cuBLAS computes B * A for A * B by rows.",
    Slip.INPUT_UNUSED: "Compare your formula with the task's, term by term: where does this input "
    "belong?",
    Slip.INPUT_SIGN: "Compare the sign of each term with the formula. Of a complex number, check "
    "the sign of the imaginary part.",
    Slip.INPUT_FLIPPED: "Check the direction in which the index of that input runs. A convolution "
    "in mathematics reverses its filter. The one of neural networks, a cross-correlation, doesn't.",
    Slip.INPUT_SHIFTED: "Count from 0, and compare the index of that input with the formula: it's "
    "one off.",
    Slip.INPUT_ORDER: "For the first wrong element, write down which number the formula takes and "
    "which one your code takes. Of several numbers packed in a word, the first is in the lowest "
    "bits.",
    Slip.INPUTS_SWAPPED: "Compare the role of each with the formula, and the order of the "
    "arguments.",
    Slip.INPUT_FOR_ANOTHER: "Which line reads the one where the formula has the other? Is a name "
    "left over from a line that was copied?",
    Slip.FIRST_FOR_ALL: "Does the loop over that input go on after its first part? If it does, its "
    "index lacks a number, its row's, image's or batch's.",
    Slip.TILE_LAYOUT: "A fragment's row_major or col_major, and .trans of ldmatrix, say how a tile "
    "is stored in memory: compare both with the array.",
}

# The words of a headline, where the kind says more than the numbers show.
HEADLINES: dict[Slip, str] = {Slip.LOOKS_UNWRITTEN: "unwritten memory"}


def next_step(kind: str, slip: Slip | None = None) -> str:
    """The next step after a verdict: its slip's, unless the place of the errors says more."""
    if slip is None or (kind in (EDGES, FIRST_BLOCK) and slip in (Slip.ZEROS, Slip.SAME_VALUE)):
        return NEXT_STEP[kind]
    return SLIP_STEP[slip]
