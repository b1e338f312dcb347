"""What NVIDIA's assembler translates otherwise than the PTX manual says.

Random programs in PTX found these: some left other registers on an H200 than on the emulator, and
the machine code shows why. ptxas 12.8, 12.9 and 13.0 agree in them. The emulator follows the
manual, and random programs now keep clear of these forms. ``fidelity.py`` runs each kernel here on
a GPU, to say whether its driver still departs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SHORT = ("f16", "bf16", "u16", "s16")


def leaves_upper_half(form: str) -> bool:
    """``set`` into 16 bits: see the departure of this name below."""
    opcode, *modifiers = form.split(".")
    return opcode == "set" and modifiers[-2] in SHORT


def loses_its_guard(form: str) -> bool:
    """``testp``, and ``set`` whose result is converted at its end: see the first three below."""
    opcode, *modifiers = form.split(".")
    if opcode == "set":
        result, source = modifiers[-2:]
        return result == "f32" or result in SHORT or source in SHORT
    return opcode == "testp"


def mistakes_one_register_for_two(form: str) -> bool:
    """``lop3``, ``min`` and ``max`` of one f16: see the last two below."""
    return form in ("min.f16", "max.f16") or form.startswith("lop3.")


@dataclass(frozen=True)
class Departure:
    """``body`` works on w0 to w3, the words ``given``, and leaves its result in w3.

    ``manual`` is the result that the manual asks for, ``silicon`` what the machine code leaves.
    """

    name: str
    what: str
    body: str
    given: tuple[int, int, int, int]
    manual: int
    silicon: int

    @property
    def text(self) -> str:
        loads = "".join(f"ld.global.b32 w{n}, [x+{4 * n}];\n" for n in range(4))
        return f"""\
.version 8.6
.target sm_90
.address_size 64
.visible .entry run(.param .u64 px) {{
.reg .b64 x; .reg .b32 w0, w1, w2, w3; .reg .b16 h0, h1; .reg .pred p, q;
ld.param.u64 x, [px];
{loads}{self.body}
st.global.b32 [x], w3;
ret;
}}
"""

    def arguments(self) -> list[np.ndarray]:
        """The words in an array of their own; the result comes back in its first element."""
        return [np.array(self.given, np.uint32)]


ONE, TWO, THREE, INFINITY = 0x3F800000, 0x40000000, 3, 0x7F800000
DEPARTURES = (
    Departure(
        "guarded testp",
        "`@p testp.*` runs whether p holds or not",
        "setp.ne.b32 p, w0, 0; setp.ne.b32 q, w1, 0;\n"
        "@p testp.infinite.f32 q, w2; selp.b32 w3, 1, 0, q;",
        (0, 0, INFINITY, 0),
        0,
        1,
    ),
    Departure(
        "guarded set into f32",
        "`@p set.*.f32.*` (f16 and bf16 as well): where p does not hold, the old register is read "
        "as an integer, and its magnitude converted to floating point",
        "setp.ne.b32 p, w0, 0; @p set.lt.f32.f32 w3, w1, w2;",
        (0, ONE, TWO, THREE),
        THREE,
        0x40400000,
    ),
    Departure(
        "guarded set of f16 into s32",
        "`@p set.*.s32.f16` (u32 and bf16 as well): where p does not hold, the lower half of the "
        "old register is extended to 32 bits",
        "cvt.u16.u32 h0, w1; cvt.u16.u32 h1, w2;\n"
        "setp.ne.b32 p, w0, 0; @p set.lt.s32.f16 w3, h0, h1;",
        (0, 0x3C00, 0x4000, 0x12348765),
        0x12348765,
        0xFFFF8765,
    ),
    Departure(
        "upper half of set into 16 bits",
        "`set.*.f16.*` (bf16, u16 and s16 as well) leaves its result in both halves of a 32-bit "
        "register, and a 16-bit instruction behind it compares all 32 bits",
        "cvt.u16.u32 h0, w0; cvt.u16.u32 h1, w1; set.lt.f16.f16 h0, h0, h1;\n"
        "cvt.u16.u32 h1, w2; setp.hi.u16 p, h0, h1; selp.b32 w3, 1, 0, p;",
        (0x3C00, 0x4000, 0x7FFF, 0),
        0,
        1,
    ),
    Departure(
        "lop3 of one register twice",
        "`lop3.b32` whose second and third source are one register, merged with the `xor` of its "
        "result and that register: the table's entries for the pair are lost",
        "lop3.b32 w3, w0, w1, w1, 0xf8; xor.b32 w3, w3, w1;",
        (0b0011, 0b0101, 0, 0),
        0b0010,
        0b0110,
    ),
    Departure(
        "max of one f16 register and itself",
        "`max.f16` and `min.f16` of one register and itself become a copy: a NaN keeps its bits "
        "where the result is to be 0x7fff",
        "cvt.u16.u32 h0, w0; max.f16 h0, h0, h0; cvt.u32.u16 w3, h0;",
        (0xFE00, 0, 0, 0),
        0x7FFF,
        0xFE00,
    ),
)
