"""Common errors of NVRTC, by their message, each with a hint of one sentence."""

from __future__ import annotations

from typing import NamedTuple


class Hint(NamedTuple):
    """A hint, and the mistake's ``name``. ``text`` may refer to groups of ``pattern``: ``\\1``."""

    name: str
    pattern: str
    text: str


CUTE = "for CuTe's headers"  # replaced by a text for this machine
NO_HINT = Hint("", "", "")
HOST_CODE = Hint(
    "host code",
    r'identifier "cuda[A-Z]\w*" is undefined|required runtime APIs are not declared',
    "That is host code. `python -m course_utils.emulator run FILE.cu` runs the whole program. "
    "Everywhere else only kernels are compiled. Remove main and every <<<...>>>, or put them "
    "between #ifndef __CUDACC_RTC__ and #endif. Python makes the arrays and launches: "
    "module.NAME(grid, block, args). On the command line --args does.",
)
NESTED_LAUNCH = Hint(
    "launch in a kernel",
    r"required runtime APIs are not declared",
    "A kernel launches a kernel here (dynamic parallelism). The emulator runs that if the code is "
    'compiled with options=("-rdc=true",). On a GPU it takes a program built by nvcc -rdc=true. Or '
    "launch the second kernel from the host, after the first.",
)
TEXTURES = (
    "CUDA 12 removed texture references. Pass a cudaTextureObject_t as a parameter, and read it "
    "with tex1Dfetch<float>(t, i) or tex2D<float>(t, x, y)."
)
HINTS = (
    Hint(
        "iostream",
        r'source file "iostream"',
        "Remove it: a kernel prints with printf, which needs no #include.",
    ),
    Hint(
        "host header",
        r'source file "(vector|string|memory|map|set|deque|list|thread|fstream|chrono|random)"',
        "Only a host program has it. Of C++'s own headers kernels have those in "
        "course_utils/compiling/standard_headers, and those under <cuda/std/...>.",
    ),
    Hint(
        "built in",
        r'source file "(cuda(_runtime)?|device_launch_parameters)\.h"',
        "Remove it: the parts for kernels are built in.",
    ),
    Hint(
        "host function",
        r"not allowed in JIT mode",
        "Only device code is compiled here: remove the host function.",
    ),
    Hint("cute", r'source file "(cute|cutlass)/', CUTE),
    Hint(
        "curand",
        r'source file "curand',
        "cuRAND's headers are in a package of their own: pip install nvidia-curand-cu12, or "
        "nvidia-curand for CUDA 13. In the course: pip install -e '.[curand]'.",
    ),
    Hint(
        "header",
        r"cannot open source file",
        "Check the name's spelling. Shared headers are in kernels/common.",
    ),
    Hint(
        "old shuffle",
        r'identifier "(__shfl(?:_up|_down|_xor)?)" is undefined',
        "Since CUDA 9 it is \\1_sync(mask, ...): the mask names the lanes that take part, "
        "0xffffffff for all 32.",
    ),
    Hint("old texture", r'texture is not a template|identifier "texture" is undefined', TEXTURES),
    Hint(
        "NumPy's type",
        r'identifier "(?:np|numpy|cp|cupy)" is undefined',
        "NumPy's names are Python's. In C++ write float, double, int, unsigned ...",
    ),
    Hint(
        "semicolon",
        r'expected a ";"',
        "The semicolon is often missing at the end of the line before.",
    ),
    Hint(
        "brace",
        r'expected a "}"',
        "A closing brace is missing: count the { and } of the kernel.",
    ),
    Hint("parenthesis", r'expected a "\)"', "A closing parenthesis is missing."),
    Hint(
        "parenthesis",
        r'expected a "\("',
        "`if`, `for` and `while` want their condition in parentheses.",
    ),
    Hint(
        "comment",
        r'unrecognized preprocessing directive|"#" not expected here',
        "A comment begins with // in C++; # begins a directive, such as #include.",
    ),
    Hint(
        "integer of fixed width",
        r'"(u?int(?:8|16|32|64)_t)" is undefined',
        "Write unsigned, long long..., or add #include <cuda/std/cstdint>.",
    ),
    Hint("half", r'"(__)?half2?" is undefined', "Add #include <cuda_fp16.h>."),
    Hint("bfloat16", r'"__nv_bfloat162?" is undefined', "Add #include <cuda_bf16.h>."),
    Hint(
        "largest float",
        r'"FLT_MAX" is undefined',
        "Add #include <float.h>. To begin a maximum, -INFINITY is smaller still.",
    ),
    Hint(
        "limits of a float",
        r'"(FLT|DBL)_\w+" is undefined',
        "Add #include <float.h>.",
    ),
    Hint(
        "undefined",
        r'identifier ".+" is undefined',
        "Declare it before this line, or check its spelling: capitals count in C++.",
    ),
    Hint(
        "std",
        r'namespace "std" has no member',
        "Device code has no host library: use the plain function (min, max, sqrtf) or cuda::std.",
    ),
    Hint(
        "return type",
        r"must have a void return type",
        "A kernel returns nothing: results go through a pointer.",
    ),
    Hint(
        "endless template",
        r"excessive recursion",
        "The template never stops: end it with `if constexpr (...) ... else ...` (after a plain "
        "`if`, or without the `else`, the rest is compiled too), or with a specialisation.",
    ),
    Hint(
        "template in extern C",
        r'this declaration may not have extern "C" linkage',
        'A template can\'t be extern "C", which allows one function of a name: take it out of the '
        "braces of extern \"C\", and name an instance, names=['scale<float>'].",
    ),
    Hint(
        "no type",
        r"this declaration has no storage class or type specifier",
        "A declaration begins with its type: is a word missing before it, or is this no CUDA C++?",
    ),
    Hint(
        "whole array",
        r"must have arithmetic",
        "There is no arithmetic on a whole array: compute with one element, such as `x[i]`.",
    ),
    Hint(
        "const",
        r"must be a modifiable lvalue",
        "It can't be written to: is it declared const?",
    ),
    Hint(
        "arguments",
        r"too (few|many) arguments in function call",
        "Compare with the function's parameter list.",
    ),
    Hint(
        "divisibility",
        r"(Shape|Stride) Divisibility Condition",
        "One layout does not divide the other, so their composition has no strides: compare the "
        "numbers of both shapes. `layouts.composition` in Python says which.",
    ),
    Hint(
        "ranks",
        r"Mismatched Ranks|Mismatched ranks",
        "A coordinate, shape or stride has more or fewer parts than the layout it is used with.",
    ),
    Hint(
        "injective",
        r"Non-injective Layout detected",
        "Two coordinates have one offset, so no strides can describe the rest.",
    ),
    Hint(
        "dynamic tensor",
        r"Dynamic owning tensors not supported",
        "A tensor in registers has a shape that the compiler knows: Int<8>{} instead of 8.",
    ),
    Hint(
        "modes", r"Too many modes in tiler", "The tiler has more parts than the layout has modes."
    ),
)
