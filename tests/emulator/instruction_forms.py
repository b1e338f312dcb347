"""Every form of the instructions that compute values, operands for them, and a kernel of each.

What a GPU and the emulator must agree on bit for bit is ``EXACT``; ``CLOSE`` are approximations,
each with the error that the manual allows.
"""

from __future__ import annotations

import itertools

import numpy as np

from course_utils.emulator.instructions import DTYPES, TABLE

LANES = 8192

# -- the forms ------------------------------------------------------------------------------------


def forms(pattern: str) -> list[str]:
    """ "add{,.sat}.{s32,u32}" -> its four spellings."""
    parts = [p.split(",") for p in pattern.replace("}", "{").split("{")]
    fixed_or_choice = [p if i % 2 else [",".join(p)] for i, p in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*fixed_or_choice)]


INTEGER = "{u16,s16,u32,s32,u64,s64}"
ROUND = "{.rn,.rz,.rm,.rp}"
ANY = "{u8,s8,u16,s16,u32,s32,u64,s64}"
HALF = "{f16,f16x2,bf16,bf16x2}"
COMPARE = "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
EXACT = [
    form
    for pattern in (
        "{add,sub,div,rem,min,max}." + INTEGER,
        "{add,sub}.sat.s32",
        "{add,sub}{,.cc}.{u32,s32,u64,s64}",
        "{addc,subc}{,.cc}.{u32,s32,u64,s64}",
        "{mul,mad}.{lo,hi}." + INTEGER,
        "{mul,mad}.wide.{u16,s16,u32,s32}",
        "mad.hi.sat.s32",
        "{mad,madc}.{lo,hi}.cc.{u32,s32,u64,s64}",
        "madc.{lo,hi}.{u32,s32,u64,s64}",
        "{mul24,mad24}.{lo,hi}.{u32,s32}",
        "mad24.hi.sat.s32",
        "sad." + INTEGER,
        "{abs,neg}.{s16,s32,s64}",
        "{add,min,max}.{u16x2,s16x2}",
        "{min,max}.relu.{s16x2,s32}",
        "max.s32.relu",
        "{vabsdiff2,vabsdiff4}.{u32.u32.u32,s32.s32.s32}{,.sat,.add}",
        "{popc,clz,brev,bfi}.{b32,b64}",
        "bfind{,.shiftamt}.{u32,s32,u64,s64}",
        "fns.b32",
        "bfe.{u32,s32,u64,s64}",
        "{bmsk.clamp,bmsk.wrap}.b32",
        "{szext.clamp,szext.wrap}.{u32,s32}",
        "dp4a.{u32,s32}.{u32,s32}",
        "dp2a.{lo,hi}.{u32,s32}.{u32,s32}",
        "{and,or,xor,not}.{b16,b32,b64,pred}",
        "cnot.{b16,b32,b64}",
        "lop3.b32",
        "lop3.{and,or}.b32",
        "shl.{b16,b32,b64}",
        "shr.{b16,b32,b64,u16,s16,u32,s32,u64,s64}",
        "shf.{l,r}.{clamp,wrap}.b32",
        "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}",
        "setp.{eq,ne}.{b16,b32,b64}",
        "setp.{eq,ne,lt,le,gt,ge}{,.and,.or,.xor}." + INTEGER,
        "setp.{lo,ls,hi,hs}.{u16,u32,u64}",
        "setp." + COMPARE + "{,.and,.xor}{,.ftz}.f32",
        "setp." + COMPARE + "{.or,}.f64",
        "setp." + COMPARE + "{,.ftz}.{f16,f16x2}",
        "setp." + COMPARE + ".{bf16,bf16x2}",
        "setp.{lt,geu}.{and,or,xor}.{f16,f16x2}",
        "set.{lt,neu}{,.and}{,.ftz}.{f32,u32,s32}.f32",
        "set.{lt,ge}.{f32,u32,s32}.{s32,u64,f64}",
        "set." + COMPARE + ".{f16.f16,f16x2.f16x2,bf16.bf16,bf16x2.bf16x2}",
        "set.{lt,neu}{,.xor}.{u16,s16,u32,s32}.{f16,bf16}",
        "set.{lt}{,.and}.{f16x2.f16x2,bf16x2.bf16x2}",
        "selp.{b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64}",
        "slct{,.ftz}.{b16,b32,b64,f32,f64}.f32",
        "slct.{u32,f64}.s32",
        "{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32",
        "{fma,mad}" + ROUND + "{,.ftz}{,.sat}.f32",
        "{div,rcp,sqrt}" + ROUND + "{,.ftz}.f32",
        "{add,sub,mul,fma,div,rcp,sqrt}" + ROUND + ".f64",
        "{abs,neg}{,.ftz}.f32",
        "{abs,neg,min,max,copysign}.f64",
        "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32",
        "copysign.f32",
        "testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}",
        "{add,sub,mul}{,.rn}{,.ftz}{,.sat}.{f16,f16x2}",
        "{add,sub,mul}{,.rn}.{bf16,bf16x2}",
        "fma.rn{,.ftz}{,.sat,.relu}.{f16,f16x2}",
        "fma.rn{,.relu}.{bf16,bf16x2}",
        "{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.{f16,f16x2}",
        "{min,max}{,.NaN}{,.xorsign.abs}.{bf16,bf16x2}",
        "{abs,neg}{,.ftz}.{f16,f16x2}",
        "{abs,neg}.{bf16,bf16x2}",
        "cvt." + ANY + "." + ANY,
        "cvt.sat.{u8,s8,u16,s16}.{u32,s32,u64,s64}",
        "cvt.sat.{u32,s32}.{s32,u32,u64,s64}",
        "cvt" + ROUND + "{,.sat}.{f16,f32,f64}." + ANY,
        "cvt.rn.bf16." + ANY,
        "cvt{.rni,.rzi,.rmi,.rpi}." + ANY + ".{f16,f32,f64,bf16}",
        "cvt{.rni,.rzi,.rmi,.rpi}{.ftz,.ftz.sat}." + ANY + ".f32",
        "cvt{.rni,.rzi,.rmi,.rpi}{,.sat}.{f16.f16,f32.f32,f64.f64}",
        "cvt{.rni,.rzi,.rmi,.rpi}.{ftz.f32.f32,bf16.bf16}",
        "cvt" + ROUND + "{,.sat}.{f16.f32,f16.f64,f32.f64}",
        "cvt" + ROUND + ".{ftz.f16.f32,ftz.f32.f64}",
        "cvt{.rn,.rz}{,.relu}{,.satfinite}.{f16,bf16}.f32",
        "cvt{.rm,.rp}.bf16.f32",
        "cvt" + ROUND + ".{bf16.f16,bf16.f64,f16.bf16}",
        "cvt{,.ftz}{,.sat}.{f32.f16,f32.f32,f64.f32,f32.bf16}",
        "cvt{,.sat}.{f64.f64,f64.f16,f64.bf16}",
        "cvt.rna{,.satfinite}.tf32.f32",
        "cvt{.rn,.rz}{,.relu}{,.satfinite}.tf32.f32",
        "cvt{.rn,.rz}{,.relu}{,.satfinite}.{f16x2,bf16x2}.f32",
        "cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.{f32,f16x2}",
        "cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}",
        "cvt.pack.sat.{u16,s16}.s32",
        "cvt.pack.sat.{u8,s8}.s32.b32",
    )
    for form in forms(pattern)
]

# form -> largest error allowed (see errors), after the manual
CLOSE = {
    "div.approx.f32": 2.0**-21,
    "div.full.f32": 2.0**-21,
    "div.approx.ftz.f32": 2.0**-21,
    "rcp.approx.f32": 2.0**-22.5,
    "rcp.approx.ftz.f32": 2.0**-22.5,
    "sqrt.approx.f32": 2.0**-22,
    "sqrt.approx.ftz.f32": 2.0**-22,
    "rsqrt.approx.f32": 2.0**-22,
    "rsqrt.approx.ftz.f32": 2.0**-22,
    "rsqrt.approx.f64": 2.0**-19,
    "rsqrt.approx.ftz.f64": 2.0**-19,
    "rcp.approx.ftz.f64": 2.0**-19,
    "ex2.approx.f32": 2.0**-21,
    "ex2.approx.ftz.f32": 2.0**-21,
    "lg2.approx.f32": 2.0**-21,
    "lg2.approx.ftz.f32": 2.0**-21,
    "tanh.approx.f32": 2.0**-10,
    "tanh.approx.f16": 2.0**-9,
    "tanh.approx.bf16": 2.0**-6,
    "ex2.approx.f16": 2.0**-9,
    "ex2.approx.ftz.bf16": 2.0**-6,
}

# -- operands -------------------------------------------------------------------------------------

F32_BITS = [
    0x00000000,
    0x00000001,
    0x00000003,
    0x00400000,
    0x007FFFFF,
    0x00800000,
    0x00800001,
    0x00FFFFFF,
    0x1F800000,
    0x20000000,
    0x33000000,
    0x33000001,
    0x33800000,
    0x34000000,
    0x38800000,
    0x387FC000,
    0x387FF000,
    0x3AFFFFFF,
    0x3B000000,
    0x3B800000,
    0x3C800000,
    0x3EFFFFFF,
    0x3F000000,
    0x3F000001,
    0x3F7FFFFF,
    0x3F800000,
    0x3F800001,
    0x3F801000,
    0x3F803000,
    0x3F808000,
    0x3F818000,
    0x3F800800,
    0x3FC00000,
    0x40000000,
    0x40200000,
    0x40600000,
    0x40800000,
    0x42FE0000,
    0x42FF0000,
    0x43000000,
    0x437F8000,
    0x43800000,
    0x43DF0000,
    0x43E00000,
    0x43E80000,
    0x43F00000,
    0x47000000,
    0x477FE000,
    0x477FEFFF,
    0x477FF000,
    0x47600000,
    0x47700000,
    0x4B000001,
    0x4B800000,
    0x4EFFFFFF,
    0x4F000000,
    0x4F7FFFFF,
    0x4F800000,
    0x5EFFFFFF,
    0x5F000000,
    0x5F7FFFFF,
    0x5F800000,
    0x7E800000,
    0x7E800001,
    0x7F000000,
    0x7F7F8000,
    0x7F7FFFFF,
    0x7F800000,
    0x7F800001,
    0x7FC00000,
    0x7FFFFFFF,
]
F16_BITS = [
    0x0000,
    0x0001,
    0x0003,
    0x0200,
    0x03FF,
    0x0400,
    0x0401,
    0x1400,
    0x2C00,
    0x37FF,
    0x3800,
    0x3801,
    0x3BFF,
    0x3C00,
    0x3C01,
    0x3E00,
    0x4000,
    0x4100,
    0x4300,
    0x5BF8,
    0x5C00,
    0x5EF8,
    0x5F00,
    0x5F80,
    0x6400,
    0x6401,
    0x77FF,
    0x7800,
    0x7B00,
    0x7BFF,
    0x7C00,
    0x7C01,
    0x7E00,
    0x7FFF,
]
BF16_BITS = sorted({b >> 16 for b in F32_BITS} | {0x0041, 0x3F81, 0x7FFF, 0x7F81})
WORDS = [0, 1, 2, 3, 7, 8, 15, 16, 17, 24, 30, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 255, 256]


def _widened(bits: np.ndarray) -> np.ndarray:
    """The bits of f32 numbers as f64."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes quiet
        return bits.view(np.float32).astype(np.float64).view(np.uint64)


def operands(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` values of a type: bit patterns with a name, numbers of few bits, random bits."""
    if kind == "pred":
        return rng.integers(0, 2, count).astype(bool)
    base = kind.removesuffix("x2") if kind.endswith("16x2") else kind
    paired = base != kind
    dtype = np.dtype(f"u{DTYPES[kind].itemsize // (2 if paired else 1)}")
    width = dtype.itemsize * 8
    size = count * (2 if paired else 1)
    noise = rng.integers(0, 2**64, size, dtype=np.uint64).astype(dtype)
    small = rng.integers(-40, 40, size)
    sign = (rng.integers(0, 2, size, dtype=np.uint64) << np.uint64(width - 1)).astype(dtype)
    if base == "f32" or kind == "f64":
        named = rng.choice(np.array(F32_BITS, np.uint32), size)
        short = (small * 2.0 ** rng.integers(-30, 30, size)).astype(np.float32).view(np.uint32)
        near = rng.standard_normal(size).astype(np.float32).view(np.uint32)
        if kind == "f64":
            extremes = [
                1,
                2**52 - 1,
                2**52,
                0x7FEFFFFFFFFFFFFF,
                0x3FF0000000000001,
                0x7FFFFFFFFFFFFFFF,
            ]
            named = np.where(
                rng.random(size) < 0.3,
                rng.choice(np.array(extremes, np.uint64), size),
                _widened(named),
            )
            short = _widened(short)
            near = rng.standard_normal(size).view(np.uint64)
        named = named | sign
    elif base in ("f16", "bf16"):
        named = (
            rng.choice(np.array(F16_BITS if base == "f16" else BF16_BITS, np.uint16), size) | sign
        )
        short = near = noise
    else:
        corners = [0, 1, 2**width - 1, 2 ** (width - 1), 2 ** (width - 1) - 1, *WORDS]
        named = rng.choice(np.array([c % 2**width for c in corners], np.uint64), size).astype(dtype)
        short, near = small.astype(dtype), rng.integers(0, 64, size).astype(dtype)
    bits = np.choose(rng.integers(0, 4, size), [named, short, near, noise]).astype(dtype)
    return bits.view(DTYPES[kind])


# -- one kernel per form --------------------------------------------------------------------------

REGISTER = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}
HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"


def kernel(form: str, op) -> str:
    """PTX that applies the instruction to element i of its sources and stores element i."""
    opcode = form.split(".")[0]
    body, sources, results = [], [], []
    for i, kind in enumerate(op.src):
        size = DTYPES[kind].itemsize
        body.append(f".reg .{REGISTER[size]} s{i}; ld.param.u64 a, [p{i}];")
        body.append(f"mad.lo.u64 a, i, {size}, a;")
        body.append(f"ld.global.{'s8' if kind == 's8' else f'b{size * 8}'} s{i}, [a];")
        if kind == "pred":
            body.append(f".reg .pred q{i}; setp.ne.b16 q{i}, s{i}, 0;")
        sources.append(f"q{i}" if kind == "pred" else f"s{i}")
    for i, kind in enumerate(op.dst):
        register = "pred" if kind == "pred" else REGISTER[DTYPES[kind].itemsize]
        body.append(f".reg .{register} d{i};")
        results.append(f"d{i}")
    if opcode == "lop3":
        sources[3] = "0xCA"
    if op.carry_in:
        body.append(f"ld.param.u64 a, [p{len(op.src)}]; add.u64 a, a, i; ld.global.u8 h, [a];")
        body.append("cvt.u32.u16 w, h;")
        body.append("sub.cc.u32 w, 0, w;" if opcode == "subc" else "add.cc.u32 w, w, 0xffffffff;")
    written = results[:1] if opcode == "setp" and form.endswith(("f16", "bf16")) else results
    body.append(f"{form} {'|'.join(written)}, {', '.join(sources)};")
    if op.carry_out:
        body.append("subc.u32 w, 0, 0; neg.s32 w, w;" if "sub" in opcode else "addc.u32 w, 0, 0;")
        body.append(f"ld.param.u64 a, [r{len(op.dst)}]; add.u64 a, a, i; st.global.u8 [a], w;")
    for i, kind in enumerate(op.dst[: len(written)]):
        size = DTYPES[kind].itemsize
        body.append(f"ld.param.u64 a, [r{i}]; mad.lo.u64 a, i, {size}, a;")
        if kind == "pred":
            body.append(f"selp.u16 h, 1, 0, d{i};")
        body.append(f"st.global.b{size * 8} [a], {'h' if kind == 'pred' else f'd{i}'};")
    count_in, count_out = len(op.src) + op.carry_in, len(op.dst) + op.carry_out
    names = [f"p{i}" for i in range(count_in)] + [f"r{i}" for i in range(count_out)]
    parameters = ", ".join(f".param .u64 {name}" for name in names)
    return (
        f"{HEADER}.visible .entry run({parameters}) {{\n"
        ".reg .b64 i, a; .reg .b32 t, b, n, w; .reg .b16 h;\n"
        "mov.u32 t, %tid.x; mov.u32 b, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 t, b, n, t;\n"
        "cvt.u64.u32 i, t;\n" + "\n".join(body) + "\nret;\n}\n"
    )


def on_gpu(form: str, op, sources) -> list[np.ndarray] | None:
    """What a GPU makes of the instruction; None where the driver refuses it."""
    import cupy

    module = cupy.cuda.function.Module()
    try:
        module.load(kernel(form, op).encode())
    except cupy.cuda.driver.CUDADriverError:
        return None
    run = module.get_function("run")
    inputs = [cupy.asarray(s.view(f"u{s.itemsize}")) for s in sources]
    kinds = [*op.dst, *["pred"] * op.carry_out]
    outputs = [cupy.zeros(LANES, f"u{DTYPES[kind].itemsize}") for kind in kinds]
    run((LANES // 128,), (128,), (*inputs, *outputs))
    return [cupy.asnumpy(o).view(DTYPES[kind]) for o, kind in zip(outputs, kinds, strict=True)]


def both(form: str):
    """(operands, the table's results, the GPU's results); None for a form the driver refuses."""
    opcode, *modifiers = form.split(".")
    op = TABLE[opcode](tuple(modifiers))
    assert op is not None, f"{form} is not in the table"
    rng = np.random.default_rng(2024)
    kinds = [*op.src, *["pred"] * op.carry_in]
    sources = [operands(kind, LANES, rng) for kind in kinds]
    if opcode == "fns":  # the lowest s32 has no magnitude
        sources[2] = np.maximum(sources[2], -(2**31) + 1)
    if opcode == "lop3":
        sources[3] = np.array([0xCA], np.uint32)
    device = on_gpu(form, op, sources)
    if device is None:
        return None
    with np.errstate(all="ignore"):
        ours = op.compute(*sources)
    ours = ours if isinstance(ours, tuple) else (ours,)
    if opcode == "setp" and modifiers[-1] in ("f16", "bf16"):  # these have one destination
        ours, device = ours[:1], device[:1]
    return sources, [np.broadcast_to(o, LANES) for o in ours], device


def explain(form, sources, ours, device, lanes) -> str:
    def text(x):
        value = np.broadcast_to(x, LANES)[i]
        return f"{value!r} ({value.tobytes()[::-1].hex()})"

    i = int(np.flatnonzero(lanes)[0])
    given = "; ".join(map(text, sources))
    return f"{form}: {lanes.sum()} lanes differ; of {given} ours {text(ours)}, GPU {text(device)}"


# -- comparing -----------------------------------------------------------------------------------


def differing(form: str, ours: np.ndarray, device: np.ndarray) -> np.ndarray:
    """Lanes whose bits differ; NaNs of f32, f64 and tf32, or made from f64, count as equal."""
    unequal = np.ascontiguousarray(ours).view(np.uint8) != device.view(np.uint8)
    lanes = unequal.reshape(LANES, -1).any(axis=1)
    if ours.dtype in (np.float32, np.float64):
        lanes &= ~(np.isnan(ours) & np.isnan(device))
    if form.startswith("cvt") and form.endswith((".f16.f64", ".bf16.f64", "tf32.f32")):
        infinity = {"f16": 0x7C00, "bf16": 0x7F80, "tf32": 0x7F800000}[form.split(".")[-2]]
        bits = [np.ascontiguousarray(x).view(f"u{x.itemsize}") << 1 for x in (ours, device)]
        lanes &= ~((bits[0] > infinity << 1) & (bits[1] > infinity << 1))
    return lanes


def errors(form, ours, device) -> np.ndarray:
    """Differences relative to the size of the result or, where that is larger, to the smallest
    normal number (lg2: to 1); 0 where both are equal or both NaN."""
    floor = 1.0 if form.startswith("lg2") else 2.0**-14 if form.endswith(".f16") else 2.0**-126
    x, y = ours.astype(np.float64), device.astype(np.float64)
    if form.endswith("bf16"):
        x, y = (
            (v.astype(np.uint32) << 16).view(np.float32).astype(np.float64) for v in (ours, device)
        )
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        return np.where(same, 0, np.abs(x - y) / np.maximum(np.abs(y), floor))
