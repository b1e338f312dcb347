"""Products and sums without rounding modifiers round as ptxas contracts them.

Each program was assembled by ptxas 12.9 for sm_90a and its machine code read: ``CONTRACTED`` holds
programs beside the ones with the multiply-add that it chose, ``APART`` those it left as they are.
"""

import numpy as np
import pytest
from fidelity import on_gpu

from course_utils.emulator import EmulatedModule
from course_utils.emulator.machine.contraction import contractions

HEAD = """
.version 8.5
.target sm_90a
.address_size 64
.visible .entry f(.param .u64 from, .param .u64 to)
{{
    .reg .{register} a, b, c, d, e, g, h, m, n; .reg .pred p; .reg .u64 x, y; .reg .u32 t;
    ld.param.u64 x, [from]; ld.param.u64 y, [to];
    mov.u32 t, %tid.x; mad.wide.u32 x, t, {row}, x; mad.wide.u32 y, t, {twice}, y;
    ld.global.{register} a, [x]; ld.global.{register} b, [x+{size}];
    ld.global.{register} c, [x+{twice}]; ld.global.{register} d, [x+{thrice}];
    mov.{register} e, a; mov.{register} g, a;
    {body}
    st.global.{register} [y], e; st.global.{register} [y+{size}], g;
    ret;
}}
"""
CONTRACTED = {
    "sub from": ("mul.T m,a,b; sub.T e,c,m;", "neg.T n,a; fma.rn.T e,n,b,c;"),
    "sub of": ("mul.T m,a,b; sub.T e,m,c;", "neg.T n,c; fma.rn.T e,a,b,n;"),
    "add": ("mul.T m,a,b; add.T e,c,m;", "fma.rn.T e,a,b,c;"),
    "two uses": (
        "mul.T m,a,b; sub.T e,c,m; add.T g,m,d;",
        "neg.T n,a; fma.rn.T e,n,b,c; fma.rn.T g,a,b,d;",
    ),
    "two products, the first one": (
        "mul.T m,a,b; mul.T n,c,d; add.T e,m,n;",
        "mul.rn.T n,c,d; fma.rn.T e,a,b,n;",
    ),
    "two products, not the earlier one": (
        "mul.T m,a,b; mul.T n,c,d; add.T e,n,m;",
        "mul.rn.T m,a,b; fma.rn.T e,c,d,m;",
    ),
    "an addend of one sum is needed, and stays apart in the other": (
        "mul.T m,a,b; mul.T n,c,d; sub.T e,m,n; sub.T g,a,n;",
        "mul.rn.T n,c,d; neg.T g,n; fma.rn.T e,a,b,g; sub.rn.T g,a,n;",
    ),
    "the second of one sum, the first of another": (
        "mul.T m,a,b; mul.T n,c,d; mul.T h,a,d; add.T e,m,n; add.T g,h,m;",
        "mul.rn.T m,a,b; fma.rn.T e,c,d,m; fma.rn.T g,a,d,m;",
    ),
    "through neg": ("mul.T m,a,b; neg.T n,m; add.T e,n,c;", "neg.T n,a; fma.rn.T e,n,b,c;"),
    "a product of a product": (
        "mul.T m,a,b; mul.T n,m,c; add.T e,n,d;",
        "mul.rn.T m,a,b; fma.rn.T e,m,c,d;",
    ),
    "under a guard": (
        "mul.T m,a,b; setp.gt.T p,c,d; @p add.T e,m,c;",
        "setp.gt.T p,c,d; @p fma.rn.T e,a,b,c;",
    ),
}
SATURATED = {"saturated": ("mul.T m,a,b; add.sat.T e,m,c;", "fma.rn.sat.T e,a,b,c;")}
APART = {
    "stored": "mul.T m,a,b; sub.T e,c,m; mov.R g,m;",
    "compared": "mul.T m,a,b; add.T e,m,c; setp.gt.T p,m,d; @p mov.R g,d;",
    "an addend": "mul.T m,a,b; fma.rn.T e,c,d,m; add.T g,m,c;",
    "twice itself": "mul.T m,a,b; add.T e,m,m;",
    "a rounded sum": "mul.T m,a,b; add.rn.T e,m,c;",
    "a rounded product": "mul.rn.T m,a,b; add.T e,m,c;",
    "a magnitude": "mul.T m,a,b; abs.T n,m; add.T e,n,c;",
    "used in a loop": (
        "mul.T m,a,b; L: sub.T e,e,m; add.u32 t,t,32; setp.lt.u32 p,t,96; @p bra L;"
    ),
}
FTZ = {
    "flushed product": "mul.ftz.f32 m,a,b; add.f32 e,m,c;",
    "flushed sum": "mul.f32 m,a,b; add.ftz.f32 e,m,c;",
}
FORMATS = {"f32": np.float32, "ftz.f32": np.float32, "f64": np.float64, "f16": np.float16}


def text(body: str, kind: str) -> str:
    dtype = np.dtype(FORMATS[kind])
    register = "b16" if kind == "f16" else kind.removeprefix("ftz.")
    body = body.replace(".R ", f".{register} ").replace("setp.gt.T", f"setp.gt.{kind[-3:]}")
    body = body.replace(".sat.T", ".sat.T" if kind[:3] != "ftz" else ".ftz.sat.f32")
    names = "size", "twice", "thrice", "row"
    sizes = {name: n * dtype.itemsize for n, name in enumerate(names, 1)}
    return HEAD.format(register=register, body=body.replace(".T", f".{kind}"), **sizes)


def ran(body: str, kind: str) -> bytes:
    dtype = FORMATS[kind]
    numbers = np.random.default_rng(3).standard_normal((64, 4)).astype(dtype)
    results = np.zeros((64, 2), dtype)
    EmulatedModule(text(body, kind)).entry("f").launch(1, 64, (numbers, results))
    return results.tobytes()


def found(body: str, kind: str = "f32") -> int:
    return len(contractions(EmulatedModule(text(body, kind)).entry("f").function))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", CONTRACTED)
def test_a_sum_that_ptxas_contracts_is_rounded_once(name, kind):
    body, written_out = CONTRACTED[name]
    assert ran(body, kind) == ran(written_out, kind)
    assert ran(body, kind) != ran(body.replace("mul.T", "mul.rn.T"), kind)


def test_a_saturated_sum_too():
    body, written_out = SATURATED["saturated"]
    assert (
        ran(body, "f32") == ran(written_out, "f32") != ran(body.replace("mul.", "mul.rn."), "f32")
    )


@pytest.mark.parametrize("name", APART)
def test_a_product_that_something_else_needs_stays_apart(name):
    assert found(APART[name]) == 0
    assert ran(APART[name], "f32")  # it ends, for on a GPU one without end would stop all tests


@pytest.mark.parametrize("name", FTZ)
def test_flushing_differs_so_they_stay_apart(name):
    assert found(FTZ[name]) == 0


def test_a_factor_that_has_changed_cannot_be_multiplied_later():
    assert found("mul.T m,a,b; mov.R a,d; sub.T e,c,m;") == 0


@pytest.mark.gpu
@pytest.mark.parametrize("kind", FORMATS)
def test_a_gpu_gives_the_same_bits(kind):
    for body in (*(pair[0] for pair in CONTRACTED.values()), *APART.values()):
        numbers = np.random.default_rng(3).standard_normal((64, 4)).astype(FORMATS[kind])
        results = np.zeros((64, 2), FORMATS[kind])
        _, there = on_gpu(text(body, kind), "f", 1, 64, [numbers, results])
        assert ran(body, kind) == there.tobytes(), body
