"""Every form of atom and red, on every space, against NumPy that serves lane after lane."""

import time

import ml_dtypes
import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    DATA_RACE,
    UNINITIALISED,
    EmulatedModule,
    Options,
)
from course_utils.emulator.instructions.atomics import _compare_and_swap

F16, BF16 = np.float16, ml_dtypes.bfloat16
LANES, WORDS = 64, 64
ADDED = {
    "u32": np.uint32,
    "s32": np.int32,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
    "noftz.f16": F16,
    "noftz.bf16": BF16,
    "noftz.f16x2": F16,
    "noftz.bf16x2": BF16,
}
ORDERED = {"u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64}
BITS = {"b16": np.uint16, "b32": np.uint32, "b64": np.uint64, "b128": np.dtype("V16")}
WIDE = {kind: BITS[kind] for kind in ("b32", "b64")}
FORMS = {
    **{f"add.{kind}": dtype for kind, dtype in ADDED.items()},
    **{f"{name}.{kind}": dtype for name in ("min", "max") for kind, dtype in ORDERED.items()},
    **{f"{name}.{kind}": dtype for name in ("and", "or", "xor") for kind, dtype in WIDE.items()},
    **{f"exch.{kind}": BITS[kind] for kind in ("b32", "b64", "b128")},
    **{f"cas.{kind}": dtype for kind, dtype in BITS.items()},
    "inc.u32": np.uint32,
    "dec.u32": np.uint32,
}
HALVES = {"f16": F16, "bf16": BF16, "f16x2": F16, "bf16x2": BF16}
VECTORS = {  # in global memory only
    **{f"add.v{n}.f32": np.float32 for n in (2, 4)},
    **{
        f"{name}.noftz.v{n}.{kind}": dtype
        for name in ("add", "min", "max")
        for kind, dtype in HALVES.items()
        for n in ((2, 4) if kind.endswith("x2") else (2, 4, 8))
    },
}
SPACES = ("global", "shared", "generic global", "generic shared")
PLACES = {  # the word that each lane changes
    "one word": np.zeros(LANES, np.uint32),
    "a word for each lane": np.arange(LANES, dtype=np.uint32)[::-1].copy(),
    "some lanes on one word": np.arange(LANES, dtype=np.uint32) * 5 % 7,
}


def elements(form: str) -> int:
    """How many elements of a vector, 1 for what is none."""
    return next((int(m[1:]) for m in form.split(".") if m in ("v2", "v4", "v8")), 1)


def kernel(opcode: str, form: str, space: str, size: int) -> str:
    """Lane i does it with words[places[i]], values[i] and compared[i]; what was there is old[i]."""
    count = elements(form)
    register = {2: "b16", 4: "b32", 8: "b64", 16: "b128"}[size // count]
    if count > 1:
        return vector_kernel(opcode, form, space, size, register)
    shared = "shared" in space
    modifier = "" if space.startswith("generic") else f".{space}"
    result = "old, " if opcode == "atom" else ""
    compared = "c, " if form.startswith("cas") else ""
    keep = f"st.global.{register} [a], old;" if opcode == "atom" else ""
    at = "cvta.shared.u64 word, word;" if space == "generic shared" else ""
    own = "cvt.u64.u32 place, t; mad.lo.u64 a, place, {size}, {base};"
    here = own.format(size=size, base="words")
    there = f"mov.u64 s, memory; mad.lo.u64 word, place, {size}, s;"
    bring = f"{there} ld.global.{register} v, [a]; st.shared.{register} [word], v; bar.sync 0;"
    take = (
        f"bar.sync 0; {here} {there} ld.shared.{register} v, [word]; st.global.{register} [a], v;"
    )
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry run(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4)
{{
.shared .align 16 .b8 memory[{WORDS * size}];
.reg .b64 words, values, compares, places, olds, a, s, place, word;
.reg .b32 t, w; .reg .{register} v, c, old;
ld.param.u64 words, [p0]; ld.param.u64 values, [p1]; ld.param.u64 compares, [p2];
ld.param.u64 places, [p3]; ld.param.u64 olds, [p4];
mov.u32 t, %tid.x;
{here} {bring if shared else ""}
cvt.u64.u32 place, t; mad.lo.u64 a, place, 4, places; ld.global.u32 w, [a];
cvt.u64.u32 place, w; {"mov.u64 s, memory;" if shared else "mov.u64 s, words;"}
mad.lo.u64 word, place, {size}, s; {at}
{own.format(size=size, base="values")} ld.global.{register} v, [a];
{own.format(size=size, base="compares")} ld.global.{register} c, [a];
{own.format(size=size, base="olds")}
{opcode}{modifier}.{form} {result}[word], {compared}v;
{keep} {take if shared else ""}
ret;
}}
"""


def vector_kernel(opcode: str, form: str, space: str, size: int, register: str) -> str:
    """The same for vectors, of which at most four elements are loaded and stored at once."""
    count, width = elements(form), size // elements(form)
    v, old = ([f"{name}{n}" for n in range(count)] for name in ("v", "old"))

    def parts(what, names):
        turns = range(0, count, 4)
        pieces = [(n * width, ", ".join(names[n : n + 4])) for n in turns]
        return " ".join(what.format(n=min(count, 4), at=at, of=of) for at, of in pieces)

    result = "{" + ", ".join(old) + "}, " if opcode == "atom" else ""
    keep = parts(f"st.global.v{{n}}.{register} [a+{{at}}], {{{{{{of}}}}}};", old)
    modifier = "" if space.startswith("generic") else f".{space}"
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry run(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4)
{{
.reg .b64 words, values, places, olds, a, place, word;
.reg .b32 t, w; .reg .{register} {", ".join(v + old)};
ld.param.u64 words, [p0]; ld.param.u64 values, [p1];
ld.param.u64 places, [p3]; ld.param.u64 olds, [p4];
mov.u32 t, %tid.x;
cvt.u64.u32 place, t; mad.lo.u64 a, place, 4, places; ld.global.u32 w, [a];
cvt.u64.u32 place, w; mad.lo.u64 word, place, {size}, words;
cvt.u64.u32 place, t; mad.lo.u64 a, place, {size}, values;
{parts(f"ld.global.v{{n}}.{register} {{{{{{of}}}}}}, [a+{{at}}];", v)}
mad.lo.u64 a, place, {size}, olds;
{opcode}{modifier}.{form} {result}[word], {{{", ".join(v)}}};
{keep if opcode == "atom" else ""}
ret;
}}
"""


def serially(name: str, words, places, values, compared):
    """(words afterwards, what each lane found), lanes served in their order."""
    words, found = words.copy(), np.empty_like(values)
    for lane, place in enumerate(places):
        old, value = words[place].copy(), values[lane]
        found[lane] = old
        words[place] = {
            "add": lambda old, value: old + value,
            "min": np.minimum,
            "max": np.maximum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
            "exch": lambda old, value: value,
            "cas": lambda old, value: value if old == compared[lane] else old,  # noqa: B023
            "inc": lambda old, value: 0 if old >= value else old + 1,
            "dec": lambda old, value: value if old == 0 or old > value else old - 1,
        }[name](old, value)
    return words, found


def raw(values: np.ndarray) -> np.ndarray:
    """A copy of the bits: unsigned integers of 8 bytes at most."""
    return values.copy().view(f"u{min(values[0].nbytes, 8)}").ravel()


def data(form: str, dtype, rng):
    """Words, values and what a compare-and-swap expects, as an array with a row for each word."""
    name, each = form.split(".")[0], elements(form) * (2 if form.endswith("x2") else 1)
    shape = (LANES, each) if each > 1 else (LANES,)
    dtype = np.dtype(dtype)
    if dtype.kind == "V" and dtype.itemsize == 16:
        few = np.zeros((3, LANES, 2), np.uint64)
        few[..., 1] = rng.integers(0, 3, (3, LANES))
        few[..., 0] = 256 * (few[..., 1] == 2)
        return list(few.view(dtype)[..., 0])
    if name in ("inc", "dec", "cas"):  # so few that bounds and expectations are met, and are not
        return [rng.integers(0, 5, shape).astype(dtype) for _ in range(3)]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [
            rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True) for _ in range(3)
        ]
    return [rng.uniform(-9, 9, shape).astype(dtype) for _ in range(3)]


@pytest.mark.parametrize(
    ("form", "space"),
    [(form, space) for form in FORMS for space in SPACES]
    + [(form, space) for form in VECTORS for space in ("global", "generic global")],
)
def test_an_atomic_leaves_and_returns_what_serving_lane_after_lane_would(form, space):
    name, dtype = form.split(".")[0], (FORMS | VECTORS)[form]
    rng = np.random.default_rng(7)
    for opcode in ("atom",) if name in ("exch", "cas") else ("atom", "red"):
        words, values, compared = data(form, dtype, rng)
        size = words[0].nbytes
        run = EmulatedModule(kernel(opcode, form, space, size)).entry("run")
        for pattern, places in PLACES.items():
            with np.errstate(over="ignore"):
                expected, found = serially(name, words, places, values, compared)
            left, value, compare = (raw(x) for x in (words, values, compared))
            old = np.zeros_like(left)
            run.launch(1, LANES, (left, value, compare, places, old))
            case = f"{opcode}.{form} in {space}, {pattern}"
            assert left.tolist() == raw(expected).tolist(), case
            if opcode == "atom":
                assert old.tolist() == raw(found).tolist(), case


@pytest.mark.parametrize("name", ["bfloat16", "bfloat162", "half", "half2"])
def test_two_threads_that_add_a_one_of_16_bits_leave_two(name):
    kind = f"__{name}" if name in ("half", "half2") else f"__nv_{name}"
    source = f"""
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void run({kind}* y) {{ atomicAdd(y, __float2{name}_rn(1.0f)); }}
    """
    y = np.zeros(2, BF16 if "bf" in name else F16)
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu"))
    module.entry("run").launch(1, 2, (y.view(np.uint16),))
    assert y.tolist() == [2.0, 2.0 if name.endswith("2") else 0.0]


def test_a_chain_in_which_each_swap_makes_the_next_one_possible_takes_no_time():
    source = """extern "C" __global__ void run(unsigned* word, unsigned* old) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    old[i] = atomicCAS(word, i, i + 1);
    }"""
    lanes = 16384
    word, old = np.zeros(1, np.uint32), np.zeros(lanes, np.uint32)
    kernel = EmulatedModule(compile_ptx(source, filename="kernel.cu")).entry("run")
    start = time.process_time()
    kernel.launch(lanes // 256, 256, (word, old))
    assert word[0] == lanes and np.array_equal(old, np.arange(lanes))
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("seed", range(50))
def test_a_compare_and_swap_of_few_values_is_that_of_lane_after_lane(seed):
    rng = np.random.default_rng(seed)
    lanes, most, words = (int(rng.integers(1, n)) for n in (200, 6, 40))
    places = rng.integers(0, words, lanes)
    expected, values = (rng.integers(0, most, lanes).astype(np.uint32) for _ in range(2))
    left = rng.integers(0, most, words).astype(np.uint32)
    wanted, found = serially("cas", left, places, values, expected)
    assert _compare_and_swap(left, places, expected, values).tolist() == found.tolist()
    assert left.tolist() == wanted.tolist()


PAIR = "struct alignas(16) Pair { unsigned long long a, b; };"
QUAD_SUM = 'extern "C" __global__ void run(float4* y) { atomicAdd(y, make_float4(1, 2, 3, 4)); }'
PAIR_CAS = f"""{PAIR} extern "C" __global__ void run(Pair* y) {{
    __shared__ Pair pair;
    SETS
    unsigned long long i = threadIdx.x;
    Pair old = atomicCAS(&pair, Pair{{i, 2 * i}}, Pair{{i + 1, 2 * i + 2}});
    y[i] = old;
}}"""


def test_atomics_of_16_bytes_are_checked_as_others_are():
    def launch(source, y):
        kernel = EmulatedModule(compile_ptx(source, filename="kernel.cu")).entry("run")
        return kernel.launch(1, 32, (y,), names=("y",), options=Options(checks=ALL_CHECKS)).findings

    y = np.zeros(4, np.float32)
    assert not launch(QUAD_SUM, y) and y.tolist() == [32, 64, 96, 128]
    pairs = np.zeros((32, 2), np.uint64)
    sets = "if (threadIdx.x == 0) pair = Pair{0, 0}; __syncthreads();"
    assert not launch(PAIR_CAS.replace("SETS", sets), pairs)
    assert pairs.tolist() == [[i, 2 * i] for i in range(32)]
    assert launch(PAIR_CAS.replace("SETS", ""), pairs)[0].kind == UNINITIALISED
    races = launch(PAIR_CAS.replace("SETS", sets.replace("__syncthreads();", "")), pairs)
    assert DATA_RACE in [f.kind for f in races]
