"""Matrix instructions of a warp, compiled from inline assembly and ``nvcuda::wmma``, against NumPy.

The kernels lay fragments out by the formulas of the PTX manual, written as CUDA C++, so that the
layouts are checked against a second spelling of them.
"""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    MISALIGNED,
    OUT_OF_BOUNDS,
    UNKNOWN_INSTRUCTION,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.instructions.fragment_layouts import fragment_a, fragment_b, fragment_c
from course_utils.emulator.numerics import floats

F16, F32 = np.float16, np.float32
WARPS = 3


def launch(source, block, args, grid=1, shared=0, names=(), **options):
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu", arch="compute_90a"))
    (name,) = module.entries
    return module.entry(name).launch(
        grid, block, args, shared, names=names, options=Options(**options)
    )


def random(shape, kind, seed=0):
    """(raw bits as stored, values in f64) of random numbers of a matrix type."""
    rng = np.random.default_rng(seed)
    if kind in ("s8", "u8"):
        raw = rng.integers(-128 if kind == "s8" else 0, 128 if kind == "s8" else 256, shape)
        raw = raw.astype(np.int8 if kind == "s8" else np.uint8)
        return raw, raw.astype(np.float64)
    x = rng.standard_normal(shape)
    if kind == "f64":
        return x, x
    x = x.astype(F32)
    if kind == "f16":
        return x.astype(F16), x.astype(F16).astype(np.float64)
    if kind == "bf16":
        raw = floats.to_bf16(x)
        return raw, floats.from_bf16(raw).astype(np.float64)
    if kind == "tf32":
        raw = floats.to_tf32(x)
        return raw, raw.view(F32).astype(np.float64)
    if kind == "e4m3":
        raw = floats.to_e4m3(x)
        return raw, floats.F16_OF_E4M3[raw].view(F16).astype(np.float64)
    raw = floats.to_e5m2(x)
    return raw, floats.F16_OF_E5M2[raw].view(F16).astype(np.float64)


# --- mma ------------------------------------------------------------------------------------------

# Each lane reads its fragment element by element. A: element i of register r lies in row
# g + 8 (r % (M/8)), column t·E + i + 4·E·(r / (M/8)), with E elements in a register; B likewise
# along k, column g; C: registers hold pairs (row g + 8·(i>>1), column 2 t + (i&1)).
MMA = """
typedef {element} E; typedef {accumulator} C;
constexpr int M = {m}, N = 8, K = {k}, PER = {per};
extern "C" __global__ void f(const E* a, const E* b, const C* c, C* d) {{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    a += warp * M * K; b += warp * K * N; c += warp * M * N; d += warp * M * N;
    __align__(8) E fa[M * K / 32]; __align__(8) E fb[K * N / 32]; __align__(8) C fc[M * N / 32];
    for (int x = 0; x < M * K / 32; ++x) {{
        int r = x / PER, row = g + 8 * (r % (M / 8));
        fa[x] = a[row * K + t * PER + x % PER + 4 * PER * (r / (M / 8))];
    }}
    for (int x = 0; x < K * N / 32; ++x)
        fb[x] = b[(t * PER + x % PER + 4 * PER * (x / PER)) * N + g];
    for (int x = 0; x < M * N / 32; ++x) fc[x] = c[(g + 8 * (x >> 1)) * N + 2 * t + (x & 1)];
    {word}* A = ({word}*)fa; {word}* B = ({word}*)fb; {out}* D = ({out}*)fc;
    asm volatile("{instruction} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};"
        : {d_operands} : {ab_operands});
    for (int x = 0; x < M * N / 32; ++x) d[(g + 8 * (x >> 1)) * N + 2 * t + (x & 1)] = fc[x];
}}
"""
ELEMENTS = {  # C++ type that holds the bits, size in bits
    "f16": ("unsigned short", 16),
    "bf16": ("unsigned short", 16),
    "tf32": ("unsigned", 32),
    "e4m3": ("unsigned char", 8),
    "e5m2": ("unsigned char", 8),
    "s8": ("unsigned char", 8),
    "u8": ("unsigned char", 8),
    "f64": ("double", 64),
}
ACCUMULATORS = {  # C++ type of an element, type of a register, constraint, NumPy type
    "f16": ("unsigned short", "unsigned", "r", F16),
    "f32": ("float", "float", "f", F32),
    "s32": ("int", "int", "r", np.int32),
    "f64": ("double", "double", "d", np.float64),
}


def mma_source(m, k, a_kind, b_kind, d_kind, flags=""):
    element, bits = ELEMENTS[a_kind]
    accumulator, out, d_constraint, dtype = ACCUMULATORS[d_kind]
    per = max(1, 32 // bits)
    counts = [m * 8 // 32 // (2 if d_kind == "f16" else 1), m * k // 32 // per, k * 8 // 32 // per]
    numbers = iter(range(100))
    d, a, b = (", ".join(f"%{next(numbers)}" for _ in range(n)) for n in counts)
    constraint = "d" if bits == 64 else "r"
    ab = [f'"{constraint}"(A[{n}])' for n in range(counts[1])]
    ab += [f'"{constraint}"(B[{n}])' for n in range(counts[2])]
    return MMA.format(
        element=element,
        accumulator=accumulator,
        out=out,
        m=m,
        k=k,
        per=per,
        word="double" if bits == 64 else "unsigned",
        d=d,
        a=a,
        b=b,
        d_operands=", ".join(f'"+{d_constraint}"(D[{n}])' for n in range(counts[0])),
        ab_operands=", ".join(ab),
        instruction=f"mma.sync.aligned.m{m}n8k{k}.row.col{flags}.{d_kind}.{a_kind}.{b_kind}.{d_kind}",
    )


MMA_FORMS = [
    (16, 8, "f16", "f16", "f32"),
    (16, 16, "f16", "f16", "f32"),
    (16, 8, "f16", "f16", "f16"),
    (16, 16, "f16", "f16", "f16"),
    (16, 8, "bf16", "bf16", "f32"),
    (16, 16, "bf16", "bf16", "f32"),
    (16, 4, "tf32", "tf32", "f32"),
    (16, 8, "tf32", "tf32", "f32"),
    (16, 32, "e4m3", "e5m2", "f32"),
    (16, 32, "e5m2", "e4m3", "f32"),
    (16, 32, "e4m3", "e4m3", "f16"),
    (16, 16, "e4m3", "e4m3", "f32"),
    (8, 16, "s8", "u8", "s32"),
    (16, 16, "u8", "s8", "s32"),
    (16, 32, "s8", "s8", "s32"),
    (8, 4, "f64", "f64", "f64"),
    (16, 4, "f64", "f64", "f64"),
    (16, 8, "f64", "f64", "f64"),
    (16, 16, "f64", "f64", "f64"),
]
TOLERANCE = {"f16": 1e-2, "f32": 2e-6, "s32": 0, "f64": 1e-14}


@pytest.mark.parametrize("form", MMA_FORMS, ids=lambda f: "m{}k{}-{}-{}-{}".format(*f))
def test_mma_multiplies_what_the_fragment_formulas_lay_out(form):
    m, k, a_kind, b_kind, d_kind = form
    dtype = ACCUMULATORS[d_kind][3]
    a, a_values = random((WARPS, m, k), a_kind, 1)
    b, b_values = random((WARPS, k, 8), b_kind, 2)
    c = (10 * np.random.default_rng(3).standard_normal((WARPS, m, 8))).astype(dtype)
    d = np.zeros((WARPS, m, 8), dtype)
    launch(mma_source(*form), 32 * WARPS, (a, b, c, d))
    expected = a_values @ b_values + c
    np.testing.assert_allclose(d, expected, rtol=TOLERANCE[d_kind], atol=TOLERANCE[d_kind] * 10)


MANUAL = {  # fragment -> (row, column) of element i, as the manual prints them for each shape
    "A m16n8k16 f16": (
        fragment_a(16, 16, 2, 8),
        lambda g, t, i: (
            g if i < 2 or 4 <= i < 6 else g + 8,
            2 * t + (i & 1) + (8 if i >= 4 else 0),
        ),
    ),
    "A m16n8k8 f16": (
        fragment_a(16, 8, 2, 4),
        lambda g, t, i: (g if i < 2 else g + 8, 2 * t + (i & 1)),
    ),
    "A m16n8k8 tf32": (
        fragment_a(16, 8, 1, 4),
        lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    ),
    "A m16n8k16 f64": (
        fragment_a(16, 16, 1, 8),
        lambda g, t, i: (g if i % 2 == 0 else g + 8, i * 2 + t if i % 2 == 0 else i * 2 - 2 + t),
    ),
    "A m16n8k32 s8": (
        fragment_a(16, 32, 4, 16),
        lambda g, t, i: (
            g if i < 4 or 8 <= i < 12 else g + 8,
            4 * t + (i & 3) + (16 if i >= 8 else 0),
        ),
    ),
    "A m16n8k64 s4": (
        fragment_a(16, 64, 8, 32),
        lambda g, t, i: (
            g if i < 8 or 16 <= i < 24 else g + 8,
            8 * t + (i & 7) + (32 if i >= 16 else 0),
        ),
    ),
    "A m8n8k16 s8": (fragment_a(8, 16, 4, 4), lambda g, t, i: (g, 4 * t + i)),
    "B m16n8k16 f16": (
        fragment_b(16, 8, 2, 4),
        lambda g, t, i: (2 * t + (i & 1) + (8 if i >= 2 else 0), g),
    ),
    "B m16n8k16 f64": (fragment_b(16, 8, 1, 4), lambda g, t, i: (t + 4 * i, g)),
    "B m16n8k32 s8": (
        fragment_b(32, 8, 4, 8),
        lambda g, t, i: (4 * t + (i & 3) + (16 if i >= 4 else 0), g),
    ),
    "B m8n8k4 f64": (fragment_b(4, 8, 1, 1), lambda g, t, i: (t, g)),
    "C m16n8": (fragment_c(16, 8), lambda g, t, i: (g if i < 2 else g + 8, 2 * t + (i & 1))),
    "C m8n8": (fragment_c(8, 8), lambda g, t, i: (g, 2 * t + (i & 1))),
    "D m64n256 of wgmma, one warp": (
        fragment_c(16, 256),
        lambda g, t, i: (g + 8 * ((i >> 1) & 1), 8 * (i >> 2) + 2 * t + (i & 1)),
    ),
}


@pytest.mark.parametrize("name", MANUAL)
def test_fragments_are_those_of_the_manual(name):
    fragment, formula = MANUAL[name]
    for lane in range(32):
        for i, place in enumerate(fragment.place[lane]):
            assert divmod(place, fragment.shape[1]) == formula(lane // 4, lane % 4, i)


@pytest.mark.parametrize("m, k", [(8, 32), (16, 32), (16, 64)])
def test_mma_of_four_bit_integers(m, k):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 8, (m, k)), rng.integers(0, 16, (8, k))
    a_words, b_words = ((x[:, 0::2] & 15 | (x[:, 1::2] & 15) << 4).astype(np.uint8) for x in (a, b))
    na, nb = m * k // 256, k // 32
    source = f"""
    extern "C" __global__ void f(const unsigned* a, const unsigned* b, int* d) {{
        int lane = threadIdx.x, g = lane / 4, t = lane % 4, D[4] = {{1, 1, 1, 1}};
        unsigned A[{na}], B[{nb}];
        for (int r = 0; r < {na}; ++r)
            A[r] = a[(g + 8 * (r % {m // 8})) * {k // 8} + t + 4 * (r / {m // 8})];
        for (int r = 0; r < {nb}; ++r) B[r] = b[g * {k // 8} + t + 4 * r];
        asm volatile("mma.sync.aligned.m{m}n8k{k}.row.col.s32.s4.u4.s32 {{{_list(0, m // 4)}}}, "
            "{{{_list(4, na)}}}, {{{_list(4 + na, nb)}}}, {{{_list(0, m // 4)}}};"
            : "+r"(D[0]), "+r"(D[1]), "+r"(D[2]), "+r"(D[3])
            : {", ".join([f'"r"(A[{n}])' for n in range(na)])},
              {", ".join([f'"r"(B[{n}])' for n in range(nb)])});
        for (int v = 0; v < {m // 4}; ++v) d[(g + 8 * (v >> 1)) * 8 + 2 * t + (v & 1)] = D[v];
    }}
    """
    d = np.zeros((m, 8), np.int32)
    launch(source, 32, (a_words, b_words, d))
    assert (d == a @ b.T + 1).all()


def _list(first, count):
    return ", ".join(f"%{n}" for n in range(first, first + count))


SPARSE = """
typedef const unsigned* Words;
extern "C" __global__ void f(Words a, Words b, Words meta, {c}* d) {{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    unsigned A[{na}], B[{nb}]; {c} D[4] = {{0, 0, 0, 0}};
    for (int r = 0; r < {na}; ++r) A[r] = a[(g + 8 * (r & 1)) * {words} + t + 4 * (r >> 1)];
    for (int r = 0; r < {nb}; ++r) B[r] = b[g * {words} * 2 + t + 4 * r];
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k{k}.row.col."
        "{sum}.{kind}.{kind}.{sum} {{%0,%1,%2,%3}}, {{{a}}}, {{{b}}}, {{%0,%1,%2,%3}}, "
        "%{m}, {selector};"
        : "+{x}"(D[0]), "+{x}"(D[1]), "+{x}"(D[2]), "+{x}"(D[3]) : {inputs}, "r"(meta[lane]));
    for (int v = 0; v < 4; ++v) d[(g + 8 * (v >> 1)) * 8 + 2 * t + (v & 1)] = D[v];
}}
"""


@pytest.mark.parametrize(
    "kind, k, selector",
    [
        ("f16", 16, 0),
        ("f16", 16, 3),
        ("bf16", 32, 0),
        ("f16", 32, 1),
        ("tf32", 8, 2),
        ("tf32", 16, 1),
        ("s8", 32, 1),
        ("u8", 64, 0),
        ("e4m3", 64, 0),
    ],
)
def test_sparse_mma_puts_the_stored_half_where_the_metadata_says(kind, k, selector):
    rng = np.random.default_rng(5)
    bits, of = ELEMENTS[kind][1], 2 if kind == "tf32" else 4  # half of so many are stored
    stored, values = random((16, k // 2), kind, 1)
    b, b_values = random((8, k), kind, 2)
    full = np.zeros((16, k))
    words = dict.fromkeys(range(32), 0)  # of metadata, by lane
    for row in range(16):
        for chunk in range(k // of):
            place = sorted(rng.permutation(of)[: of // 2])
            code = (0b0100, 0b1110)[place[0]] if of == 2 else int(place[0] | place[1] << 2)
            if bits == 8:
                lane, bit = 2 * selector + row // 8 + 2 * (chunk // 8), 4 * (chunk % 8)
            else:
                lane, bit = selector * (k * bits // 256) + chunk // 4, chunk % 4 * 4 + row // 8 * 16
            words[4 * (row % 8) + lane] |= code << bit
            for number, column in enumerate(place):
                full[row, chunk * of + column] = values[row, chunk * of // 2 + number]
    metadata = np.array([words[lane] or 0x12345678 for lane in range(32)], np.uint32)
    width = stored[0].nbytes // 4
    na = nb = width // 2
    inputs = [f'"r"(A[{n}])' for n in range(na)] + [f'"r"(B[{n}])' for n in range(nb)]
    sum_kind = "s32" if kind in ("s8", "u8") else "f32"
    c, _, constraint, dtype = ACCUMULATORS[sum_kind]
    source = SPARSE.format(
        na=na,
        nb=nb,
        words=width,
        k=k,
        kind=kind,
        selector=selector,
        inputs=", ".join(inputs),
        a=", ".join(f"%{4 + n}" for n in range(na)),
        m=4 + na + nb,
        b=", ".join(f"%{4 + na + n}" for n in range(nb)),
        sum=sum_kind,
        c=c,
        x=constraint,
    )
    d = np.zeros((16, 8), dtype)
    launch(source, 32, (stored, b, metadata, d))
    np.testing.assert_allclose(d, full @ b_values.T, rtol=2e-6, atol=2e-5)


def test_integer_mma_wraps_around_or_saturates():
    a, b = np.full((1, 16, 32), 127, np.int8), np.full((1, 32, 8), 127, np.int8)
    c = np.full((1, 16, 8), 2**31 - 1, np.int32)
    wrapped, saturated = np.zeros_like(c), np.zeros_like(c)
    launch(mma_source(16, 32, "s8", "s8", "s32"), 32, (a, b, c, wrapped))
    launch(mma_source(16, 32, "s8", "s8", "s32", ".satfinite"), 32, (a, b, c, saturated))
    assert (wrapped == 2**31 - 1 + 32 * 127 * 127 - 2**32).all()
    assert (saturated == 2**31 - 1).all()


def test_tf32_mma_ignores_the_bits_that_tf32_lacks():
    a, values = random((1, 16, 8), "tf32", 1)
    b, _ = random((1, 8, 8), "tf32", 2)
    c = np.zeros((1, 16, 8), F32)
    clean, dirty = np.zeros_like(c), np.zeros_like(c)
    source = mma_source(16, 8, "tf32", "tf32", "f32")
    launch(source, 32, (a, b, c, clean))
    launch(source, 32, (a | np.uint32(0x1FFF), b, c, dirty))
    assert (clean == dirty).all() and clean.any()


def test_mma_waits_for_the_lanes_of_its_warp():
    source = """
    extern "C" __global__ void f(float* d) {
        unsigned one = 0x3c003c00u; float x[4] = {0, 0, 0, 0};
        if (threadIdx.x % 2) x[0] = 1; else { for (int i = 0; i < 5; ++i) x[0] += d[0]; }
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
                     : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "r"(one));
        d[threadIdx.x] = x[0];
    }
    """
    d = np.zeros(64, F32)
    launch(source, 64, (d,))
    assert d.tolist() == [8, 9] * 32


@pytest.mark.parametrize(
    "instruction",
    [
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",  # a shape that f16 does not have
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",  # types that do not go together
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
    ],
)
def test_forms_that_no_gpu_has_are_unknown_instructions(instruction):
    with pytest.raises(KernelFault) as caught:
        launch(two_by_two(instruction), 32, (np.zeros(32, F32),))
    assert caught.value.finding.kind == UNKNOWN_INSTRUCTION
    assert instruction in caught.value.finding.message


def test_a_wrong_number_of_registers_is_refused():
    with pytest.raises(KernelFault, match="2 registers where 4 are needed"):
        launch(
            two_by_two("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
            32,
            (np.zeros(32, F32),),
        )


def two_by_two(instruction):
    return f"""
    extern "C" __global__ void f(float* d) {{
        float x[4] = {{0, 0, 0, 0}};
        asm volatile("{instruction} {{%0,%1,%2,%3}}, {{%4,%4}}, {{%4,%4}}, {{%0,%1,%2,%3}};"
            : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "r"(0));
        d[threadIdx.x] = x[0];
    }}
    """


# --- ldmatrix and stmatrix ------------------------------------------------------------------------

MOVE = """
extern "C" __global__ void f(const unsigned short* in, unsigned short* out, unsigned* regs) {{
    __shared__ __align__(16) unsigned short s[{count} * 64];
    int lane = threadIdx.x % 32;
    for (int i = lane; i < {count} * 64; i += 32) s[i] = {start};
    __syncwarp();
    unsigned r[{count}];
    unsigned row = (unsigned)__cvta_generic_to_shared(s + (lane % ({count} * 8)) * 8);
    {body}
    __syncwarp();
    for (int i = lane; i < {count} * 64; i += 32) out[i] = s[i];
    for (int i = 0; i < {count}; ++i) regs[lane * {count} + i] = r[i];
}}
"""


def move_source(opcode, count, trans):
    registers = ", ".join(f"%{n}" for n in range(count))
    name = f"{opcode}.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16"
    if opcode == "ldmatrix":
        outputs = ", ".join(f'"=r"(r[{n}])' for n in range(count))
        body = f'asm volatile("{name} {{{registers}}}, [%{count}];" : {outputs} : "r"(row));'
        return MOVE.format(count=count, start="in[i]", body=body)
    inputs = ", ".join(f'"r"(r[{n}])' for n in range(count))
    body = f"for (int i = 0; i < {count}; ++i) r[i] = ((unsigned*)in)[lane * {count} + i];"
    body += f'asm volatile("{name} [%{count}], {{{registers}}};" :: {inputs}, "r"(row) : "memory");'
    return MOVE.format(count=count, start="0", body=body)


def fragments(matrices, trans):
    """(count, 8, 8) u16 -> (32, count) u32: lane 4 g + t holds elements 2 t, 2 t + 1 of row g."""
    rows = np.ascontiguousarray(matrices.swapaxes(1, 2) if trans else matrices)
    return rows.view(np.uint32).reshape(len(matrices), 32).T


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_hands_rows_or_columns_to_the_lanes(count, trans):
    data = np.random.default_rng(0).integers(0, 65536, (count, 8, 8)).astype(np.uint16)
    out, regs = np.zeros_like(data), np.zeros((32, count), np.uint32)
    result = launch(move_source("ldmatrix", count, trans), 32, (data, out, regs), checks=ALL_CHECKS)
    assert (regs == fragments(data, trans)).all()
    assert result.findings == []


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix_puts_the_rows_or_columns_back(count, trans):
    data = np.random.default_rng(0).integers(0, 65536, (count, 8, 8)).astype(np.uint16)
    out, regs = np.zeros_like(data), np.zeros((32, count), np.uint32)
    source = move_source("stmatrix", count, trans)
    held = np.ascontiguousarray(fragments(data, trans)).view(np.uint16)
    result = launch(source, 32, (held, out, regs), checks=ALL_CHECKS)
    assert (out == data).all()
    assert result.findings == []


def test_movmatrix_transposes():
    data = np.arange(64, dtype=np.uint16).reshape(8, 8)
    source = """
    extern "C" __global__ void f(const unsigned* in, unsigned* out) {
        unsigned r = in[threadIdx.x];
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r));
        out[threadIdx.x] = r;
    }
    """
    out = np.zeros_like(data)
    launch(source, 32, (data, out))
    assert (out == data.T).all()


def test_warps_that_take_different_branches_multiply_on_their_own():
    source = """
    __device__ __noinline__ float product(unsigned a, unsigned b) {
        float x[4] = {0, 0, 0, 0};
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};"
                     : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "r"(a), "r"(b));
        return x[0] + x[3];
    }
    extern "C" __global__ void f(float* d) {
        unsigned one = 0x3c003c00u, two = 0x40004000u;
        float x;
        if (threadIdx.x / 32 == 1) x = product(one, two);
        else if (threadIdx.x / 32 == 3) x = product(two, two) + 1;
        else x = product(one, one) - 1;
        d[threadIdx.x] = x;
    }
    """
    d = np.zeros(160, F32)
    launch(source, 160, (d,))
    assert d[::32].tolist() == [15, 32, 15, 65, 15]


def ld_kernel(address, before="", after=""):
    return f"""
    extern "C" __global__ void f(unsigned* out) {{
        extern __shared__ __align__(16) unsigned short tile[];
        {before}
        unsigned r, p = (unsigned)__cvta_generic_to_shared({address});
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%0}}, [%1];" : "=r"(r) : "r"(p));
        {after}
        out[threadIdx.x] = r;
    }}
    """


def test_ldmatrix_of_a_row_past_the_end_names_the_lane_that_gave_the_address():
    with pytest.raises(KernelFault) as caught:
        launch(ld_kernel("tile + threadIdx.x * 8"), 32, (np.zeros(32, np.uint32),), shared=7 * 16)
    found = caught.value.finding
    assert (found.kind, found.array, found.index) == (OUT_OF_BOUNDS, "tile", 56)
    assert found.thread == (7, 0, 0)


def test_ldmatrix_of_a_row_that_is_not_aligned_is_seen():
    with pytest.raises(KernelFault) as caught:
        launch(ld_kernel("tile + threadIdx.x * 8 + 4"), 32, (np.zeros(32, np.uint32),), shared=1024)
    assert caught.value.finding.kind == MISALIGNED


def test_a_missing_barrier_before_ldmatrix_is_a_race():
    store = "tile[threadIdx.x] = 1;"
    for barrier, races in (("", 1), ("__syncthreads();", 0)):
        result = launch(
            ld_kernel("tile + (threadIdx.x % 8) * 8", store + barrier),
            64,
            (np.zeros(64, np.uint32),),
            shared=1024,
            checks=ALL_CHECKS,
        )
        assert len(result.findings) == races


def test_ldmatrix_in_padded_rows_has_no_bank_conflicts_and_in_128_byte_rows_eight():
    for pitch, wavefronts in ((64, 8), (72, 1)):
        source = ld_kernel(f"tile + (threadIdx.x % 8) * {pitch}")
        counts = launch(source, 32, (np.zeros(32, np.uint32),), shared=2048, counters=True).counts
        assert (counts.shared_load_requests, counts.shared_load_wavefronts) == (1, wavefronts)


# --- wmma -----------------------------------------------------------------------------------------

WMMA = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(const {ab}* a, const {ab}* b, const {cd}* c, {cd}* d) {{
    constexpr int M = {m}, N = {n}, K = {k};
    constexpr int LDA = {lda}, LDB = {ldb}, LDC = {ldc};
    int warp = threadIdx.x / 32;
    wmma::fragment<wmma::matrix_a, M, N, K, {type}, wmma::{la}_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, {type}, wmma::{lb}_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, {cd}> fc;
    {shared}
    wmma::load_matrix_sync(fa, a + warp * {size_a}, LDA);
    wmma::load_matrix_sync(fb, b + warp * {size_b}, LDB);
    wmma::load_matrix_sync(fc, c + warp * {size_c}, LDC, wmma::mem_{lc}_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * ({cd})2;
    wmma::store_matrix_sync(d + warp * {size_c}, fc, LDC, wmma::mem_{lc}_major);
}}
"""
WMMA_TYPES = {  # type of the fragment, of the array, of the accumulator
    "f16": ("half", "half", "float"),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16", "float"),
    "s8": ("signed char", "signed char", "int"),
    "u8": ("unsigned char", "unsigned char", "int"),
    "tf32": ("wmma::precision::tf32", "float", "float"),
    "f64": ("double", "double", "double"),
    "f16f16": ("half", "half", "half"),
}
WMMA_FORMS = [
    (shape, kind, layouts)
    for shape in ((16, 16, 16), (32, 8, 16), (8, 32, 16))
    for kind in ("f16", "f16f16", "bf16", "s8", "u8")
    for layouts in ("row col row", "col row col")
] + [
    (shape, kind, layouts)
    for shape, kind in (((16, 16, 8), "tf32"), ((8, 8, 4), "f64"))
    for layouts in ("row row row", "col col col", "row col col")
]


@pytest.mark.parametrize("form", WMMA_FORMS, ids=str)
def test_wmma_multiplies_matrices_with_any_layout_and_stride(form):
    (m, n, k), kind, layouts = form
    la, lb, lc = layouts.split()
    type_, ab, cd = WMMA_TYPES[kind]
    pad = 16  # elements after each line, so that a stride is not a length

    def stored(rows, columns, layout, kind, seed):
        """(array in memory, values (WARPS, rows, columns), leading dimension)."""
        lines, length = (rows, columns) if layout == "row" else (columns, rows)
        raw, values = random((WARPS, lines, length + pad), kind, seed)
        values = values[:, :, :length]
        return raw, values if layout == "row" else values.swapaxes(1, 2), length + pad

    a, a_values, lda = stored(m, k, la, kind[:4] if kind != "f16f16" else "f16", 1)
    b, b_values, ldb = stored(k, n, lb, kind[:4] if kind != "f16f16" else "f16", 2)
    dtype = {"float": F32, "int": np.int32, "double": np.float64, "half": F16}[cd]
    _, _, ldc = stored(m, n, lc, "f64", 3)
    lines = m if lc == "row" else n
    c = (10 * np.random.default_rng(4).standard_normal((WARPS, lines, ldc))).astype(dtype)
    d = np.full_like(c, 7)
    source = WMMA.format(
        m=m,
        n=n,
        k=k,
        lda=lda,
        ldb=ldb,
        ldc=ldc,
        la=la,
        lb=lb,
        lc=lc,
        type=type_,
        ab=ab,
        cd=cd,
        size_a=a[0].size,
        size_b=b[0].size,
        size_c=c[0].size,
        shared="",
    )
    launch(source, 32 * WARPS, (a, b, c, d))
    length = ldc - pad
    c_values = c[:, :, :length] if lc == "row" else c[:, :, :length].swapaxes(1, 2)
    d_values = d[:, :, :length] if lc == "row" else d[:, :, :length].swapaxes(1, 2)
    expected = 2 * (a_values @ b_values + c_values)
    tolerance = {F16: 2e-2, F32: 2e-6, np.int32: 0, np.float64: 1e-14}[dtype]
    np.testing.assert_allclose(d_values, expected, rtol=tolerance, atol=tolerance * 10)
    assert (d[:, :, length:] == 7).all()  # nothing between the lines was written


def test_wmma_meets_the_bank_conflicts_of_a_gpu():
    """128-byte rows cost a load eight times the wavefronts, as Nsight Compute counts them."""
    source = """
    #include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void f(float* d) {
        __shared__ __align__(32) half tile[16][64], padded[16][72];
        __shared__ __align__(32) float result[16][16];
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.0f);
        wmma::load_matrix_sync(a, &tile[0][0], 64);
        wmma::load_matrix_sync(b, &padded[0][0], 72);
        wmma::mma_sync(c, a, b, c);
        wmma::store_matrix_sync(&result[0][0], c, 16, wmma::mem_row_major);
    }
    """
    counts = launch(source, 32, (np.zeros(1, F32),), counters=True).counts
    assert (counts.shared_load_requests, counts.shared_load_wavefronts) == (2, 32 + 4)
    assert (counts.shared_store_requests, counts.shared_store_wavefronts) == (4, 16)


def test_wmma_load_past_the_end_names_the_array():
    source = """
    #include <mma.h>
    using namespace nvcuda;
    extern "C" __global__ void f(const half* a, float* d) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::load_matrix_sync(fa, a, 16);
        d[threadIdx.x] = (float)fa.x[0];
    }
    """
    with pytest.raises(KernelFault) as caught:
        launch(source, 32, (np.zeros(15 * 16, F16), np.zeros(32, F32)), names=("a", "d"))
    found = caught.value.finding
    assert (found.kind, found.array, found.index, found.past) == (OUT_OF_BOUNDS, "a", 240, 1)


# --- a warp that is not whole ---------------------------------------------------------------------

PART_OF_A_WARP = r"""
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void of_part(const half* a, float* c, unsigned* r, int which) {
    __shared__ alignas(16) half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x % 8 * 8), word = 0;
    if (which == 0) wmma::load_matrix_sync(left, a, 16);
    if (which == 1) wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
    if (which == 2)
        asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(at), "r"(word));
    if (which == 3)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(word) : "r"(at));
    if (which == 4)
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(word));
    if (which == 5)
        asm volatile("{.reg .pred p;setp.lt.u32 p, %1, 9; @p movmatrix.sync.aligned.m8n8.trans.b16 "
                     "%0, %0;}" : "+r"(word) : "r"(threadIdx.x));
    c[threadIdx.x] = left.x[0];
    r[threadIdx.x] = word;
}
"""


@pytest.mark.parametrize("which, block", [*((which, 40) for which in range(5)), (5, 32)])
def test_an_instruction_of_a_whole_warp_needs_all_32_threads(part_of_a_warp, which, block):
    args = np.ones(256, F16), np.zeros(256, F32), np.zeros(64, np.uint32), np.int32(which)
    with pytest.raises(KernelFault) as fault:
        part_of_a_warp.launch(1, block, args)
    finding = fault.value.finding
    assert finding.cause == Cause.WARP_INCOMPLETE
    assert ("The block has 40 threads" in finding.message) == (block == 40)
    assert finding.thread == (32 if block == 40 else 0, 0, 0)


@pytest.fixture(scope="module")
def part_of_a_warp():
    source = compile_ptx(PART_OF_A_WARP, filename="kernel.cu", arch="compute_90a")
    return EmulatedModule(source).entry("of_part")
