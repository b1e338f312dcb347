"""Texture fetches and surface accesses on which a GPU and the emulator should agree.

They are made through CuPy's API: :func:`fetch` and :func:`access` run a case in a namespace,
CuPy's or the emulator's. Results of ``linear`` filtering are compared within what a weight of 8
bits can do, all others bit for bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINTS = 192
_C_TYPES = {"f4": "float", "f2": "float", "u1": "unsigned char", "i1": "signed char"}
_C_TYPES |= {"u2": "unsigned short", "i2": "short", "i4": "int", "u4": "unsigned"}
_VECTORS = {"float": "float", "unsigned char": "uchar", "signed char": "char", "int": "int"}
_VECTORS |= {"unsigned short": "ushort", "short": "short", "unsigned": "uint"}


@dataclass(frozen=True)
class Case:
    """``shape``: (depth or layers, height, width, channels), 0 for what there is not. ``call``: the
    function, its type to be put in, of x, y, z, the layer l and the whole number i."""

    name: str
    call: str
    shape: tuple[int, int, int, int]
    dtype: str = "f4"
    mode: int = CLAMP
    linear: bool = False
    normalized: bool = False
    unit: bool = False
    flags: int = 0
    border: tuple[float, ...] = ()
    memory: str = "array"  # or "linear", "pitch"
    special: str = ""  # places where a GPU has a choice: "edges", "ties"; or "all channels"

    @property
    def result(self) -> tuple[str, np.dtype]:
        """The C type and the dtype of a fetch, one channel or as many as there are."""
        plain = "float" if self.unit else _C_TYPES[self.dtype]
        count = 4 if self.four else self.shape[3]
        dtype = np.dtype("f4" if self.unit or self.dtype[0] == "f" else self.dtype)
        return (plain if count == 1 else f"{_VECTORS[plain]}{count}"), dtype

    @property
    def four(self) -> bool:
        """Whether a fetch gives four values, however many channels there are."""
        return "gather" in self.call or self.special == "all channels"

    def values(self) -> np.ndarray:
        if self.special:  # the number of the texel, or of the face
            faces = self.shape[1] * self.shape[2] if self.special == "ties" else 1
            count = max(self.shape[0], 1) * max(self.shape[1], 1) * self.shape[2]
            numbers = np.arange(count) // faces
            return numbers.reshape([max(n, 1) for n in self.shape]).astype(self.dtype)
        rng = np.random.default_rng(len(self.name))
        shape = tuple(max(n, 1) for n in self.shape)
        dtype = np.dtype(self.dtype)
        if dtype.kind == "f":
            return rng.integers(-512, 512, shape).astype(dtype)
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)

    def coordinates(self) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """x, y, z as f32, layers and whole numbers as i4: inside, and up to a size outside. Of
        point sampling they stay off the edges of texels."""
        if self.special == "ties":  # the middles of faces, edges and corners
            ways = [w for w in itertools.product((-1, 0, 1), repeat=3) if any(w)]
            return self._at(*np.array(ways).T)
        if self.special == "edges":
            x = np.arange(self.shape[2]) / self.shape[2]
            return self._at(x, 0 * x, 0 * x)
        if self.special:
            return self._at(*np.array([[2.5], [0.5], [0.0]]))
        rng = np.random.default_rng(7 + len(self.name))
        at = []
        for size in (self.shape[2], self.shape[1], self.shape[0]):
            size = max(size, 1)
            place = rng.integers(-size // 2, 3 * size // 2 + 1, POINTS) + rng.uniform(
                0.1, 0.9, POINTS
            )
            at.append((place / size if self.normalized else place).astype(np.float32))
        if self.flags & CUBE:
            at = [rng.standard_normal(POINTS).astype(np.float32) for _ in range(3)]
        layer = rng.integers(
            0, max(self.shape[0], 1) // (6 if self.flags & CUBE else 1) or 1, POINTS
        )
        whole = rng.integers(-3, self.shape[2] + 4, POINTS)
        return at, layer.astype(np.int32), whole.astype(np.int32)

    def _at(self, *at: np.ndarray) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        zeros = np.zeros(len(at[0]), np.int32)
        return [x.astype(np.float32) for x in at], zeros, zeros


def _cases() -> list[Case]:
    one, two, three = (0, 0, 13, 1), (0, 9, 14, 1), (5, 6, 7, 1)
    found = []
    for filtered in (False, True):
        name = "linear" if filtered else "point"
        for mode, word in ((CLAMP, "clamp"), (BORDER, "border")):
            found += [
                Case(f"1D {name} {word}", "tex1D<T>(t, x)", one, mode=mode, linear=filtered),
                Case(f"2D {name} {word}", "tex2D<T>(t, x, y)", two, mode=mode, linear=filtered),
            ]
        for mode, word in (
            (WRAP, "wrap"),
            (MIRROR, "mirror"),
            (CLAMP, "clamp"),
            (BORDER, "border"),
        ):
            found += [
                Case(
                    f"2D {name} {word} from 0 to 1",
                    "tex2D<T>(t, x, y)",
                    two,
                    mode=mode,
                    linear=filtered,
                    normalized=True,
                )
            ]
        found += [
            Case(f"2D {name} wrap in texels", "tex2D<T>(t, x, y)", two, mode=WRAP, linear=filtered),
            Case(f"3D {name}", "tex3D<T>(t, x, y, z)", three, linear=filtered),
            Case(f"3D {name} mirror", "tex3D<T>(t, x, y, z)", three, mode=MIRROR, linear=filtered,
                 normalized=True),
            Case(f"layers {name}", "tex2DLayered<T>(t, x, y, l)", (3, 9, 14, 1), linear=filtered,
                 flags=LAYERED),
            Case(f"cube {name}", "texCubemap<T>(t, x, y, z)", (6, 8, 8, 1), linear=filtered,
                 flags=CUBE),
            Case(f"half {name}", "tex2D<T>(t, x, y)", two, "f2", linear=filtered),
            Case(f"float4 {name}", "tex2D<T>(t, x, y)", (0, 9, 14, 4), linear=filtered),
            Case(f"uchar4 as fractions {name}", "tex2D<T>(t, x, y)", (0, 9, 14, 4), "u1",
                 linear=filtered, unit=True),
            Case(f"signed char as fractions {name}", "tex2D<T>(t, x, y)", two, "i1",
                 linear=filtered, unit=True),
            Case(f"ushort as fractions {name}", "tex2D<T>(t, x, y)", two, "u2", linear=filtered,
                 unit=True),
            Case(f"short2 as fractions {name}", "tex1D<T>(t, x)", (0, 0, 13, 2), "i2",
                 linear=filtered, unit=True),
            Case(f"border colour {name}", "tex2D<T>(t, x, y)", (0, 9, 14, 4), mode=BORDER,
                 linear=filtered, border=(1.0, -2.0, 4.0, 0.5)),
            Case(f"pitch {name}", "tex2D<T>(t, x, y)", two, linear=filtered, memory="pitch"),
            Case(f"level {name}", "tex2DLod<T>(t, x, y, 0.0f)", two, linear=filtered),
        ]  # fmt: skip
    found += [
        Case("uchar4", "tex2D<T>(t, x, y)", (0, 9, 14, 4), "u1"),
        Case("signed char", "tex2D<T>(t, x, y)", two, "i1"),
        Case("ushort2", "tex1D<T>(t, x)", (0, 0, 13, 2), "u2"),
        Case("int", "tex3D<T>(t, x, y, z)", three, "i4"),
        Case("uint4 border", "tex2D<T>(t, x, y)", (0, 9, 14, 4), "u4", mode=BORDER),
        Case("layered cubes", "texCubemapLayered<T>(t, x, y, z, l)", (12, 8, 8, 1),
             flags=CUBE | LAYERED),
        Case("gradient", "tex2DGrad<T>(t, x, y, make_float2(0, 0), make_float2(0, 0))", two),
        Case("fetch float", "tex1Dfetch<T>(t, i)", one, memory="linear"),
        Case("fetch uchar4", "tex1Dfetch<T>(t, i)", (0, 0, 13, 4), "u1", memory="linear"),
        Case("fetch fractions", "tex1Dfetch<T>(t, i)", (0, 0, 13, 2), "u2", unit=True,
             memory="linear"),
        Case("edges", "tex1D<T>(t, x)", (0, 0, 1000, 1), normalized=True, special="edges"),
        Case("ties", "texCubemap<T>(t, x, y, z)", (6, 4, 4, 1), flags=CUBE, special="ties"),
        Case("channels", "tex2D<T>(t, x, y)", (0, 1, 8, 1), special="all channels"),
        *[
            Case(f"gather {channel}", f"tex2Dgather<T>(t, x, y, {channel})", (0, 9, 14, 4), dtype,
                 mode=mode, flags=GATHER)
            for channel, dtype, mode in ((0, "f4", CLAMP), (2, "i4", CLAMP), (3, "f4", BORDER))
        ],
    ]  # fmt: skip
    return found


CASES = _cases()


def kernel(case: Case) -> str:
    """Stores the channels of each fetch one after another."""
    kind = case.result[0]
    return f"""
    extern "C" __global__ void fetch(cudaTextureObject_t t, const float* xs, const float* ys,
                                     const float* zs, const int* ls, const int* is, {kind}* out) {{
        int n = blockIdx.x * blockDim.x + threadIdx.x;
        float x = xs[n], y = ys[n], z = zs[n];
        int l = ls[n], i = is[n];
        out[n] = {case.call.replace("<T>", f"<{kind}>")};
    }}
    """


def channel_format(cp: Any, dtype: np.dtype, channels: int) -> Any:
    bits = [8 * dtype.itemsize * (n < channels) for n in range(4)]
    return cp.cuda.texture.ChannelFormatDescriptor(*bits, "iuf".index(dtype.kind))


def cuda_array(cp: Any, values: np.ndarray, shape: tuple[int, ...], flags: int = 0) -> Any:
    """A CUDAarray that holds ``values``; ``shape`` as that of a :class:`Case`."""
    depth, height, width, channels = shape
    made = cp.cuda.texture.CUDAarray(
        channel_format(cp, values.dtype, channels), width, height, depth, flags
    )
    made.copy_from(values.reshape([n for n in (depth, height) if n] + [width * channels]))
    return made


def resource(cp: Any, case: Case, values: np.ndarray) -> Any:
    texture, width = cp.cuda.texture, case.shape[2]
    if case.memory == "array":
        return texture.ResourceDescriptor(0, cuArr=cuda_array(cp, values, case.shape, case.flags))
    form = channel_format(cp, values.dtype, case.shape[3])
    if case.memory == "linear":
        memory = cp.asarray(values.reshape(-1))
        return texture.ResourceDescriptor(2, arr=memory, chDesc=form, sizeInBytes=memory.nbytes)
    rows = np.zeros((case.shape[1], 64), values.dtype)  # 256 bytes a row
    rows[:, : width * case.shape[3]] = values.reshape(case.shape[1], -1)
    return texture.ResourceDescriptor(
        3,
        arr=cp.asarray(rows),
        chDesc=form,
        width=width,
        height=case.shape[1],
        pitchInBytes=rows.strides[0],
    )


def texture(cp: Any, case: Case, values: np.ndarray) -> Any:
    return cp.cuda.texture.TextureObject(
        resource(cp, case, values),
        cp.cuda.texture.TextureDescriptor(
            (case.mode,) * 3,
            int(case.linear),
            int(case.unit),
            borderColors=case.border or None,
            normalizedCoords=int(case.normalized),
        ),
    )


def fetch(cp: Any, case: Case, values: np.ndarray, coordinates) -> np.ndarray:
    """(points, channels), as NumPy sees them."""
    at, layer, whole = coordinates
    count = 4 if case.four else case.shape[3]
    out = cp.zeros((len(layer), count), case.result[1])
    args = [texture(cp, case, values), *map(cp.asarray, (*at, layer, whole)), out]
    cp.RawModule(code=kernel(case)).get_function("fetch")((1,), (len(layer),), tuple(args))
    return out.get()


def allowed(case: Case, values: np.ndarray) -> float:
    """By how much a result may be off: a step of 1/256 along each axis, where texels are mixed."""
    if not case.linear:
        return 0.0
    scale = np.iinfo(values.dtype).max if case.unit else 1
    span = max(np.ptp(values.astype(np.float64)) / scale, abs(np.array(case.border or 0.0)).max())
    return span / 256 * sum(n > 0 for n in case.shape[:3])


# --- surfaces -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SurfaceCase:
    """``statement`` reads v, of ``kind``, from surface s, or writes it there, at byte x of row y of
    slice or layer z. Reading fills ``out``; writing changes the array."""

    name: str
    statement: str
    kind: str
    shape: tuple[int, int, int, int]
    dtype: str
    flags: int = SURFACE
    outside: bool = field(default=False)


SURFACES = [
    SurfaceCase("1D read", "surf1Dread(&v, s, x)", "float", (0, 0, 13, 1), "f4"),
    SurfaceCase("2D read", "surf2Dread(&v, s, x, y)", "uchar4", (0, 5, 13, 4), "u1"),
    SurfaceCase("3D read", "surf3Dread(&v, s, x, y, z)", "short2", (3, 5, 13, 2), "i2"),
    SurfaceCase("layers read", "surf2DLayeredread(&v, s, x, y, z)", "float", (3, 5, 13, 1), "f4",
                SURFACE | LAYERED),
    SurfaceCase("zero read", "surf2Dread(&v, s, x, y, cudaBoundaryModeZero)", "float4",
                (0, 5, 13, 4), "f4", outside=True),
    SurfaceCase("clamp read", "surf2Dread(&v, s, x, y, cudaBoundaryModeClamp)", "float2",
                (0, 5, 13, 2), "f4", outside=True),
    SurfaceCase("1D write", "surf1Dwrite(v, s, x)", "unsigned char", (0, 0, 13, 1), "u1"),
    SurfaceCase("2D write", "surf2Dwrite(v, s, x, y)", "float4", (0, 5, 13, 4), "f4"),
    SurfaceCase("2D write of two", "surf2Dwrite(v, s, x, y)", "long long", (0, 5, 13, 2), "i4"),
    SurfaceCase("3D write", "surf3Dwrite(v, s, x, y, z)", "unsigned short", (3, 5, 13, 1), "u2"),
    SurfaceCase("layers write", "surf2DLayeredwrite(v, s, x, y, z)", "int", (3, 5, 13, 1), "i4",
                SURFACE | LAYERED),
    SurfaceCase("cube write", "surfCubemapwrite(v, s, x, y, z)", "int", (6, 8, 8, 1), "i4",
                SURFACE | CUBE),
    SurfaceCase("zero write", "surf2Dwrite(v, s, x, y, cudaBoundaryModeZero)", "float",
                (0, 5, 13, 1), "f4", outside=True),
]  # fmt: skip


def surface_kernel(case: SurfaceCase) -> str:
    """Thread (x, y) of block z accesses one element; ``by`` moves all of them outwards."""
    return f"""
    extern "C" __global__ void access(cudaSurfaceObject_t s, const {case.kind}* in,
                                      {case.kind}* out, int by) {{
        int n = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        int x = ((int)threadIdx.x - by) * (int)sizeof({case.kind}), y = (int)threadIdx.y - by;
        int z = blockIdx.x;
        {case.kind} v = in[n];
        {case.statement};
        out[n] = v;
    }}
    """


def access(cp: Any, case: SurfaceCase) -> tuple[np.ndarray, np.ndarray]:
    """(what the threads read, what the array holds afterwards)."""
    rng = np.random.default_rng(1)
    shape = tuple(max(n, 1) for n in case.shape)
    values, new = (rng.integers(0, 100, shape).astype(case.dtype) for _ in range(2))
    made = cuda_array(cp, values, case.shape, case.flags)
    surface = cp.cuda.texture.SurfaceObject(cp.cuda.texture.ResourceDescriptor(0, cuArr=made))
    margin = 2 if case.outside else 0
    block = shape[2] + 2 * margin, shape[1] + 2 * margin
    given = np.zeros((shape[0], block[1], block[0], shape[3]), case.dtype)
    given[:, margin : margin + shape[1], margin : margin + shape[2]] = new
    out = cp.zeros_like(cp.asarray(given))
    cp.RawModule(code=surface_kernel(case)).get_function("access")(
        (shape[0],), block, (surface, cp.asarray(given), out, np.int32(margin))
    )
    after = np.zeros([n for n in case.shape[:2] if n] + [shape[2] * shape[3]], case.dtype)
    made.copy_to(after)
    return out.get(), after.reshape(shape)


# --- what a GPU answers ---------------------------------------------------------------------------

RECORD = Path(__file__).with_name("textures_h200.npz")


def answers(cp: Any) -> dict[str, np.ndarray]:
    """What every case comes to, by its name."""
    found = {case.name: fetch(cp, case, case.values(), case.coordinates()) for case in CASES}
    for case in SURFACES:
        found[f"{case.name}: read"], found[f"{case.name}: array"] = access(cp, case)
    return found


if __name__ == "__main__":  # on a machine with a GPU: writes the record
    import cupy

    np.savez_compressed(RECORD, **answers(cupy))
