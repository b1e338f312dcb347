"""The hint for an error of NVRTC: by the table of :mod:`.known_errors`, or by the name, the types
or the line that the error is about."""

from __future__ import annotations

import difflib
import re

from .known_errors import HINTS, HOST_CODE, NESTED_LAUNCH, NO_HINT, Hint
from .python_habits import python_habits
from .signature import strip_comments

NUMPY_TYPES = {
    "float16": "half, with #include <cuda_fp16.h>",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
    "bool_": "bool",
    "str": "const char *",
}
HOST_NAMES = {
    "uint": "unsigned",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
}
ADDRESS = "the address, written &x"
ARGUMENTS = {  # of a function: their number, and their names
    "atomicCAS": (3, f"three arguments: {ADDRESS}, the value expected there, and the new one"),
    "atomic": (2, f"two arguments: {ADDRESS}, and the value"),
}
BITS = {  # a type, one that atomicCAS takes, and the functions from one to the other
    "float": ("int", "__float_as_int", "__int_as_float"),
    "double": ("unsigned long long", "__double_as_longlong", "__longlong_as_double"),
}
WIDE = ("long long", "long", "unsigned long", "size_t", "int64_t", "uint64_t")  # without atomics
PYTHON_NAMES = {
    "True": "C++ writes true.",
    "False": "C++ writes false.",
    "None": "C++ writes nullptr.",
    "print": "A kernel prints with printf.",
    "len": "A pointer has no length: pass it as a parameter, such as int n.",
    "range": "C++ counts with `for (int i = 0; i < n; ++i)`.",
    "elif": "C++ writes else if.",
    "def": 'That is Python. A kernel begins with extern "C" __global__ void.',
    "pass": "C++ needs no pass: write {}.",
}
BUILT_IN = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "clock64", "printf"),
    *("__syncthreads", "__syncthreads_count", "__syncwarp", "__threadfence"),
    *("__threadfence_block", "__threadfence_system", "__activemask", "__popc", "__ffs", "__clz"),
    *("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync"),
    *("__any_sync", "__all_sync", "__match_any_sync", "__reduce_add_sync", "__ldg", "__shared__"),
    *("__global__", "__device__", "__constant__", "__restrict__", "__launch_bounds__"),
    *("atomicAdd", "atomicSub", "atomicExch", "atomicMin", "atomicMax", "atomicInc", "atomicDec"),
    *("atomicCAS", "atomicAnd", "atomicOr", "atomicXor", "sqrtf", "rsqrtf", "expf", "logf", "powf"),
    *("sinf", "cosf", "tanhf", "fabsf", "fmaxf", "fminf", "floorf", "ceilf", "roundf", "__expf"),
    *("__fdividef", "float", "double", "unsigned", "nullptr", "true", "false", "constexpr"),
    *("float2", "float4", "int2", "int4", "make_float2", "make_float4", "make_int2", "size_t"),
)
HEADERS = {  # of names that a namespace gives
    "cuda::barrier": "cuda/barrier",
    "cuda::pipeline": "cuda/pipeline",
    "cuda::atomic": "cuda/atomic",
    "cuda::atomic_ref": "cuda/atomic",
    "cuda::std": "cuda/std/<name>",
    "cuda::ptx": "cuda/ptx",
    "cooperative_groups": "cooperative_groups.h",
    "cg": "cooperative_groups.h",
    "nvcuda": "mma.h",
    "wmma": "mma.h",
    "cub": "cub/cub.cuh",
    "cute": "cute/tensor.hpp",
}
UNREADABLE = (
    r'expected |identifier ".+" is undefined|unrecognized|"#" not expected|too many char'
    r'|operand of "\*" must be a pointer'
)
UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')
MAIN = re.compile(r"\bmain\s*\(|<<<")
CLOSE = 0.75  # of two spellings, as difflib measures
TAKEN = re.compile(  # without a line: the other function is one of CUDA's
    r'more than one instance of overloaded function "(\w+)" has "C" linkage'
    r'|declaration is incompatible with overloaded function "(\w+)"(?! \(declared)'
)
NO_OVERLOAD = re.compile(r'no instance of overloaded function "(\w+)" matches')
GIVEN = re.compile(r"argument types are: \((.*)\)")
CANDIDATE = re.compile(r'^Note #[\w-]+: function "\w+(\(.*\))" does not match')


def hint_for(message: str, excerpt: tuple[str, ...] = (), source: str = "", line: int = 0) -> Hint:
    """The hint for the error ``message`` at ``line`` of ``source``, as far as that is known.

    ``excerpt`` are the compiler's rows below the message: the line, the caret and its notes.
    NO_HINT where nothing is known.
    """
    if re.search(NESTED_LAUNCH.pattern, message) and _in_kernel(source, line):
        return NESTED_LAUNCH
    if _is_host_code(message, source, line):
        return HOST_CODE
    for special in (_undefined, _array_size, _overload, _namespace, _taken_name):
        if text := special(message, excerpt, source):
            return Hint(special.__name__.lstrip("_").replace("_", " "), "", text)
    if text := _habit(message, source, line):
        return Hint("habit of Python", "", text)
    for hint in HINTS:
        if found := re.search(hint.pattern, message):
            return hint._replace(text=found.expand(hint.text))
    return NO_HINT


def _habit(message: str, source: str, line: int) -> str:
    """The habit from Python in ``line``, if that is why the compiler could not read it."""
    if not re.match(UNREADABLE, message):
        return ""
    remarks = python_habits(source, refused=True) if source else []
    text = next((remark.text for remark in remarks if remark.line == line), "")
    if not text and message.startswith('expected a ";"'):  # `//` has hidden the one before
        before = (r.text for r in remarks if (r.line, r.habit) == (line - 1, "floor division"))
        text = next(before, "")
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def candidates(excerpt: tuple[str, ...]) -> tuple[str, ...]:
    """``excerpt`` with the overloads that do not match in one row, as their parameter lists."""
    lists = [found[1] for row in excerpt if (found := CANDIDATE.match(row))]
    if not lists:
        return excerpt
    rows = [row for row in excerpt if not CANDIDATE.match(row)]
    return (*rows, f"  it takes {', '.join(lists)}")


def _in_kernel(source: str, line: int) -> bool:
    """Whether a line of ``source`` is in a kernel or a device function."""
    depth, head, heading = 0, "", ""
    for number, row in enumerate(strip_comments(source).splitlines(), 1):
        for character in row:
            if depth == 0:
                heading = "" if character in ";}" else heading + character
            head = heading if character == "{" and depth == 0 else head
            depth += (character == "{") - (character == "}")
            if depth == 0 and character == "}":
                heading = ""
        heading += "\n" if depth == 0 else ""
        if number == line:
            return "__global__" in head or "__device__" in head
    return False


def _is_host_code(message: str, source: str, line: int) -> bool:
    """Whether the compiler met the host's part of a whole program."""
    if re.search(HOST_CODE.pattern, message):
        return True
    code = strip_comments(source)
    if not (main := MAIN.search(code)):
        return False
    after = line > code.count("\n", 0, main.start()) and "is undefined" in message
    return after or "cannot open source file" in message and '"cu' not in message


def _undefined(message: str, excerpt: tuple[str, ...], source: str) -> str:
    """About a name that was never declared: Python's, or one that was spelled in another way."""
    if not (found := UNDEFINED.search(message)):
        return ""
    name = found[1]
    if name in NUMPY_TYPES:
        return f"{name} is NumPy's name. In C++ it is {NUMPY_TYPES[name]}."
    if name in PYTHON_NAMES:
        return PYTHON_NAMES[name]
    if name in HOST_NAMES:
        return f"{name} is a name of the host's headers. Write {HOST_NAMES[name]}."
    if any(re.search(hint.pattern, message) for hint in HINTS if hint.name != "undefined"):
        return ""
    if excerpt and re.match(rf"\s*{name}\s*=[^=]", excerpt[0]):
        return ""  # a habit of Python's
    if near := _nearest(name, source):
        capitals = " Capitals count in C++." if near.lower() == name.lower() else ""
        return f"Did you mean {near}?{capitals}"
    return ""


def _nearest(name: str, source: str) -> str:
    """The name spelled almost like ``name``: of CUDA, or of the source."""
    own = set(re.findall(r"[A-Za-z_]\w*", strip_comments(source))) - {name}
    known = dict.fromkeys((*BUILT_IN, *sorted(own)))
    by_lower: dict[str, str] = {}
    for word in known:
        by_lower.setdefault(word.lower(), word)
    if name.lower() in by_lower:
        return by_lower[name.lower()]
    near = difflib.get_close_matches(name.lower(), by_lower, 1, CLOSE) if len(name) > 3 else []
    return by_lower[near[0]] if near else ""


def _array_size(message: str, excerpt: tuple[str, ...], source: str) -> str:
    """About an array whose size is not known when the kernel is compiled."""
    if "expression must have a constant value" not in message:
        return ""
    array = re.search(r"(__shared__\s+)?([\w:]+)\s+(\w+)\s*\[", excerpt[0] if excerpt else "")
    if array is None:
        return ""
    if array[1]:
        return (
            "The compiler must know the size: make it a constexpr. If the launch decides it, write "
            f"`extern __shared__ {array[2]} {array[3]}[];` and launch with shared_mem=bytes."
        )
    return f"The compiler must know the size of {array[3]}: a number, or a constexpr."


def _overload(message: str, excerpt: tuple[str, ...], source: str) -> str:
    """About a function that has no version for these types."""
    function, given = NO_OVERLOAD.search(message), GIVEN.search("\n".join(excerpt))
    if not function or not given:
        return ""
    name, types = function[1], [one.strip() for one in given[1].split(",")]
    if name.startswith("__shfl") and len(types) < 3:
        return (
            f"{name} takes the mask of the lanes that take part first, 0xffffffff for all 32, and "
            "then the value."
        )
    return _atomic(name, types, excerpt) if "atomic" in name else ""


def _atomic(name: str, types: list[str], excerpt: tuple[str, ...]) -> str:
    """About an atomic function that takes no arguments of these ``types``."""
    count, wanted = ARGUMENTS.get(name, ARGUMENTS["atomic"])
    pointer, *values = types
    kind = pointer.rstrip("* ")
    if not pointer.endswith("*") or len(types) != count or any(v.endswith("*") for v in values):
        return f"{name} takes {wanted}."
    if kind.startswith("const "):
        return f"{name} writes: its pointer can't be to {kind}."
    if kind in WIDE:
        return f"There is no {name} for {kind}: cast the pointer to (unsigned long long *)."
    if any(f"({kind} *" in row for row in excerpt if not GIVEN.search(row)):
        return f"{name} takes a value of the type that the pointer is to: convert it to {kind}."
    if name != "atomicCAS":
        return f"There is no {name} for {kind}: build it from atomicCAS in a loop, see 04/04."
    if kind not in BITS:
        return f"There is no atomicCAS for {kind}: it takes int, unsigned, and unsigned long long."
    integer, there, back = BITS[kind]
    return (
        f"There is no atomicCAS for {kind}: cast the pointer to ({integer} *), and the values by "
        f"{there} and {back}, see 04/04."
    )


def _taken_name(message: str, excerpt: tuple[str, ...], source: str) -> str:
    """About a name that CUDA's own functions have, or an extern "C" name that is given twice."""
    if (found := TAKEN.search(message)) is None:
        return ""
    name = found[1] or found[2]
    if len(re.findall(rf"\b[a-z]\w*\s*\*?\s+{name}\s*\(", strip_comments(source))) > 1:
        return f'extern "C" allows one function of a name: give each {name} its own.'
    return f"CUDA's mathematics already has a function {name}: choose another name."


def _namespace(message: str, excerpt: tuple[str, ...], source: str) -> str:
    """About a namespace that a header would give: its name is at the caret."""
    if "must be a class or namespace name" not in message and "a namespace name" not in message:
        return ""
    caret = next((row.index("^") for row in excerpt if row.strip() == "^"), 0)
    at = excerpt[0][caret:] if excerpt else ""
    name = (re.match(r"[\w:]+", at) or [""])[0]
    header = next((HEADERS[key] for key in HEADERS if name.split("::<")[0].startswith(key)), "")
    return f"Add #include <{header}> above it." if header else ""
