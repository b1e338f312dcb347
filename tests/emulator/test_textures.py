"""Textures and surfaces: against formulas written point by point, and what goes wrong with them."""

import itertools
import math

import numpy as np
import pytest

from course_utils import load, sanitize
from course_utils.devices import emulated_cupy as cp
from course_utils.devices import selection
from course_utils.devices.emulated_textures import TextureError
from course_utils.emulator import (
    ALL_CHECKS,
    BAD_TEXTURE,
    DATA_RACE,
    MISALIGNED,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    EmulatedModule,
    KernelFault,
    Options,
    Texels,
    Texture,
)
from course_utils.launching.arguments import carry_over
from tests.emulator.fidelity import PAGE
from tests.emulator.texture_cases import (
    BORDER,
    CASES,
    CLAMP,
    CUBE,
    LAYERED,
    MIRROR,
    RECORD,
    SURFACE,
    SURFACES,
    WRAP,
    access,
    allowed,
    cuda_array,
    fetch,
)

# --- fetches, point by point ----------------------------------------------------------------------


def meant(number, size, case):
    """The texel that stands for one outside; None for the border."""
    if 0 <= number < size:
        return number
    if case.mode == BORDER or case.memory == "linear":
        return None
    if case.normalized and case.mode == WRAP:
        return number % size
    if case.normalized and case.mode == MIRROR:
        turned = number % (2 * size)
        return turned if turned < size else 2 * size - 1 - turned
    return min(max(number, 0), size - 1)


def one_texel(case, values, layer, numbers):
    """The channels of the texel (x, y, z), as it is read."""
    places = [meant(n, size, case) for n, size in zip(numbers, sizes_of(case), strict=True)]
    if None in places:
        return np.array([*case.border, 0.0, 0.0, 0.0, 0.0][: case.shape[3]])
    x, y, z = [*places, 0, 0][:3]
    found = values[layer if case.flags & (LAYERED | CUBE) else z, y, x].astype(float)
    return np.maximum(found / np.iinfo(values.dtype).max, -1) if case.unit else found


def sizes_of(case):
    depth, height, width, _ = case.shape
    return [n for n in (width, height, 0 if case.flags & (LAYERED | CUBE) else depth) if n]


def face_of(x, y, z):
    m = max(abs(x), abs(y), abs(z))
    if m == abs(x):
        face, s, t = (0, -z, -y) if x >= 0 else (1, z, -y)
    elif m == abs(y):
        face, s, t = (2, x, z) if y >= 0 else (3, x, -z)
    else:
        face, s, t = (4, x, -y) if z >= 0 else (5, -x, -y)
    return face, (s / m + 1) / 2, (t / m + 1) / 2


def expected(case, values, at, layer, whole):
    sizes = sizes_of(case)
    if case.call.endswith("i)"):
        return one_texel(case, values, layer, [whole])
    at = [float(x) for x in at]
    normalized = case.normalized
    if case.flags & CUBE:
        face, *at = face_of(*at)
        layer, normalized = 6 * (layer if case.flags & LAYERED else 0) + face, True
    places = [x * n if normalized else x for x, n in zip(at, sizes, strict=False)]
    if "gather" in case.call:
        channel = int(case.call[-2])
        x, y = (math.floor(math.floor((p - 0.5) * 256 + 0.5) / 256) for p in places)
        corners = [(x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y)]
        return [one_texel(case, values, layer, corner)[channel] for corner in corners]
    if not case.linear:
        return one_texel(case, values, layer, [math.floor(p) for p in places])
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight, numbers = 1.0, []
        for place, next_ in zip(places, corner, strict=True):
            number, fraction = divmod(place - 0.5, 1)
            weight *= fraction if next_ else 1 - fraction
            numbers.append(int(number) + next_)
        total = total + weight * one_texel(case, values, layer, numbers)
    if len(sizes) == 1 and case.mode == BORDER:  # half way between the row and the border
        total = (total + np.array([*case.border, 0.0, 0.0, 0.0, 0.0][: case.shape[3]])) / 2
    return total


ORDINARY = [case for case in CASES if not case.special]  # where the guide says all


@pytest.mark.parametrize("case", ORDINARY, ids=lambda case: case.name)
def test_a_fetch_is_worth_what_the_programming_guide_says(case):
    values, coordinates = case.values(), case.coordinates()
    found = fetch(cp, case, values, coordinates)
    at, layer, whole = coordinates
    wanted = [
        expected(case, values, [x[n] for x in at], layer[n], whole[n]) for n in range(len(layer))
    ]
    tolerance = allowed(case, values) + (1e-6 if case.unit else 0)
    np.testing.assert_allclose(found, np.array(wanted).astype(found.dtype), rtol=0, atol=tolerance)
    assert len(np.unique(found)) > 5


# Of these two a few results are off in their last bits; everything else is equal bit for bit.
NEARLY = {"3D linear mirror": 0.12, "signed char as fractions linear": 1 / 32767}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fetch_is_what_an_h200_gave(case):
    found, recorded = fetch(cp, case, case.values(), case.coordinates()), np.load(RECORD)[case.name]
    np.testing.assert_allclose(found, recorded, rtol=0, atol=NEARLY.get(case.name, 0))
    assert (found == recorded).mean() > 0.95


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fetch_is_worth_the_same_on_a_gpu(case):
    values, coordinates = case.values(), case.coordinates()
    gpu, emulated = (fetch(space, case, values, coordinates) for space in (selection.cp, cp))
    np.testing.assert_allclose(emulated, gpu, rtol=0, atol=allowed(case, values))


@pytest.mark.gpu
@pytest.mark.parametrize("case", SURFACES, ids=lambda case: case.name)
def test_surfaces_hold_the_same_on_a_gpu(case):
    for gpu, emulated in zip(access(selection.cp, case), access(cp, case), strict=True):
        np.testing.assert_array_equal(gpu, emulated)


def test_a_weight_is_a_multiple_of_one_256th():
    case = next(case for case in CASES if case.name == "1D linear clamp")
    at = np.linspace(0.5, 1.5, 192, dtype=np.float32)
    values = np.zeros((1, 1, 13, 1), np.float32)
    values[0, 0, 1] = 256
    found = fetch(cp, case, values, ([at] * 3, np.zeros(192, np.int32), np.zeros(192, np.int32)))
    assert (found == np.round(found)).all() and (abs(found[:, 0] - (at - 0.5) * 256) <= 0.5).all()


@pytest.mark.parametrize("case", SURFACES, ids=lambda case: case.name)
def test_surfaces_are_read_and_written_by_the_byte(case):
    rng = np.random.default_rng(1)
    shape = tuple(max(n, 1) for n in case.shape)
    values, new = (rng.integers(0, 100, shape).astype(case.dtype) for _ in range(2))
    read, after = access(cp, case)
    if "write" in case.name:
        assert (after == new).all()
        return
    assert (after == values).all()
    if case.outside:
        mode = "constant" if "zero" in case.name else "edge"
        values = np.pad(values, ((0, 0), (2, 2), (2, 2), (0, 0)), mode)
    assert (read == values).all()


# --- sizes ----------------------------------------------------------------------------------------

QUERIES = """
extern "C" __global__ void sizes(cudaTextureObject_t t, cudaSurfaceObject_t s, unsigned* out) {
    asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
    asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
    asm("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
    asm("suq.width.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
    asm("suq.height.b32 %0, [%1];" : "=r"(out[4]) : "l"(s));
    asm("suq.depth.b32 %0, [%1];" : "=r"(out[5]) : "l"(s));
}
"""


def made(shape, flags=0, dtype=np.float32):
    values = np.arange(np.prod([max(n, 1) for n in shape])).astype(dtype)
    return cuda_array(cp, values, shape, flags)


def texture_of(array, mode=CLAMP, linear=0, unit=0, normalized=0):
    of = cp.cuda.texture
    return of.TextureObject(
        of.ResourceDescriptor(0, cuArr=array),
        of.TextureDescriptor((mode,) * 3, linear, unit, normalizedCoords=normalized),
    )


def surface_of(array):
    return cp.cuda.texture.SurfaceObject(cp.cuda.texture.ResourceDescriptor(0, cuArr=array))


def run(source, name, args, grid=1, block=32, checks=frozenset()):
    kernel = cp.RawModule(code=source).get_function(name)
    return kernel.launch((grid,), (block,), args, options=Options(checks=checks))


def test_a_kernel_can_ask_for_sizes():
    out = cp.zeros(6, np.uint32)
    surface = surface_of(made((0, 5, 6, 1), SURFACE))
    run(QUERIES, "sizes", (texture_of(made((7, 8, 9, 2)), normalized=1), surface, out), block=1)
    assert out.tolist() == [9, 8, 7, 6, 5, 0]  # as on an H200


LAYERS_1D = """
extern "C" __global__ void f(cudaTextureObject_t t, float* out) {
    out[threadIdx.x] = tex1DLayered<float>(t, threadIdx.x + 0.5f, blockIdx.x + threadIdx.x);
}
"""


def test_layers_of_one_dimension_which_cupy_cannot_make_and_a_layer_too_high():
    values = np.arange(12, dtype=np.float32).reshape(3, 1, 4, 1)
    texture = Texture(Texels(values, 1, layered=True))
    module = EmulatedModule(cp.RawModule(code=LAYERS_1D).compiled("compute_90a").ptx)
    out = np.zeros(4, np.float32)
    module.entry("f").launch(1, 4, (np.uint64(texture.handle), out))
    assert out.tolist() == [0, 5, 10, 11]


# --- what goes wrong ------------------------------------------------------------------------------

FAULTS = """
extern "C" __global__ void f(cudaTextureObject_t t, cudaSurfaceObject_t s, float* out) {
    int x = threadIdx.x;
    WHAT;
}
"""


@pytest.mark.parametrize(
    "what, kind, says",
    [
        ("surf2Dwrite(1.0f, s, x % 8, 0)", MISALIGNED, "x of a surface counts bytes"),
        ("surf2Dwrite(1.0f, s, x * 4, 4)", OUT_OF_BOUNDS, "x = 0, y = 4 at kernel.cu:4; it has 32"),
        ("surf2Dwrite(1.0f, s, x * 4, 0)", OUT_OF_BOUNDS, "thread (8, 0, 0)"),
        ("out[x] = surf2Dread<float>(s, -4, 0)", OUT_OF_BOUNDS, "reads 4 bytes"),
        ("surf1Dwrite(1.0f, s, 0)", BAD_TEXTURE, "1D surface at kernel.cu:4"),
        ("out[x] = tex1D<float>(t, x)", BAD_TEXTURE, "is of a 2D array"),
        ("out[x] = tex2D<float>(s, x, 0)", BAD_TEXTURE, "but for a surface"),
        (
            "out[x] = tex2D<float>((cudaTextureObject_t)out, x, 0)",
            BAD_TEXTURE,
            "isn't the handle of one",
        ),
        ("out[x] = tex2D<float>(0, x, 0)", BAD_TEXTURE, "names a texture"),
    ],
)
def test_a_misuse_names_its_line_and_what_there_is(what, kind, says):
    array = made((0, 4, 8, 1), SURFACE)
    with pytest.raises(KernelFault) as caught:
        run(
            FAULTS.replace("WHAT", what),
            "f",
            (texture_of(array), surface_of(array), cp.zeros(32, np.float32)),
        )
    assert caught.value.finding.kind == kind and says in caught.value.finding.message
    assert caught.value.finding.location.line == 4


def test_an_object_that_is_gone_is_no_texture():
    texture = texture_of(made((0, 4, 8, 1)))
    handle = np.uint64(texture.ptr)
    del texture
    with pytest.raises(KernelFault, match="keep it until the kernel has run"):
        run(FAULTS.replace("WHAT", "out[x] = tex2D<float>(t, x, 0)"), "f",
            (handle, np.uint64(0), cp.zeros(32, np.float32)))  # fmt: skip


def findings(what, array, block=32):
    args = texture_of(array), surface_of(array), cp.zeros(64, np.float32)
    source = FAULTS.replace("WHAT", what)
    return [f.kind for f in run(source, "f", args, block=block, checks=ALL_CHECKS).findings]


def test_two_threads_that_write_one_element_of_a_surface_race():
    assert findings("surf2Dwrite((float)x, s, x / 2 * 4, 0)", made((0, 2, 32, 1), SURFACE)) == [
        DATA_RACE
    ]
    assert not findings("surf2Dwrite((float)x, s, x * 4, 0)", made((0, 2, 32, 1), SURFACE))


def test_a_texture_of_what_the_launch_writes_races():
    what = "surf2Dwrite((float)x, s, x * 4, 0); __syncwarp(); out[x] = tex2D<float>(t, {}, 0)"
    array = made((0, 2, 64, 1), SURFACE)
    assert findings(what.format("x + 32"), array, 64) == [DATA_RACE]
    assert not findings(what.format("x"), array, 64)


@pytest.mark.parametrize("read", ["surf2Dread<float>(s, x * 4, 0)", "tex2D<float>(t, x, 0)"])
def test_an_array_that_nobody_filled_is_uninitialised(read):
    form = cp.cuda.texture.ChannelFormatDescriptor(32, 0, 0, 0, 2)
    array = cp.cuda.texture.CUDAarray(form, 32, 2, flags=SURFACE)
    assert findings(f"if ({read} > 0) out[x] = 1", array) == [UNINITIALISED]
    assert not findings(f"surf2Dwrite(1.0f, s, x * 4, 0); if ({read} > 0) out[x] = 1", array)
    array.copy_from(np.ones((2, 32), np.float32))
    assert not findings(f"if ({read} > 0) out[x] = 1", array)


def test_a_coordinate_that_nobody_set_is_uninitialised():
    what = "float at[2]; at[1] = 0; out[x] = tex2D<float>(t, at[x / 32], 0)"
    assert UNINITIALISED in findings(what, made((0, 2, 32, 1), SURFACE))


REFUSED = {
    "8, 16 or 32 bits": lambda of, array: of.CUDAarray(
        of.ChannelFormatDescriptor(32, 16, 0, 0, 2), 8
    ),
    "width = height": lambda of, array: made((6, 4, 8, 1), CUBE),
    "needs depth": lambda of, array: made((0, 4, 8, 1), LAYERED),
    "cudaArraySurfaceLoadStore": lambda of, array: surface_of(array),
    "reads integers": lambda of, array: texture_of(made((0, 4, 8, 1), dtype=np.int32), linear=1),
    "8 and 16 bits": lambda of, array: texture_of(made((0, 4, 8, 1), dtype=np.int32), unit=1),
    "needs cuArr": lambda of, array: of.ResourceDescriptor(0),
    "left out": lambda of, array: of.ResourceDescriptor(
        2, arr=cp.zeros(8), chDesc=of.ChannelFormatDescriptor(32, 0, 0, 0, 2)
    ),
}


@pytest.mark.parametrize("says", REFUSED)
def test_what_cuda_would_refuse_is_refused_with_its_reason(says):
    with pytest.raises(TextureError, match=says):
        REFUSED[says](cp.cuda.texture, made((0, 4, 8, 1)))


def test_sanitize_takes_textures_and_the_counters_leave_them_apart():
    source = FAULTS.replace("WHAT", "out[x] = tex2D<float>(t, x, 0)")
    kernel = cp.RawModule(code=source).get_function("f")
    array = made((0, 4, 8, 1), SURFACE)
    out = cp.zeros(32, np.float32)
    args = texture_of(array), surface_of(array), out
    assert not sanitize(kernel, (1,), (32,), args).findings
    result = kernel.launch((1,), (32,), args, options=Options(counters=True))
    assert result.counts.global_load_requests == 0 and result.counts.global_store_requests == 1


# --- objects of a GPU, on the emulator ------------------------------------------------------------


class OfGpu:
    """Stands for CuPy's object of a GPU: it is none of the emulator's."""

    def __init__(self, made):
        self.ResDesc = made.ResDesc
        if hasattr(made, "TexDesc"):
            self.TexDesc = made.TexDesc


def test_textures_and_surfaces_of_a_gpu_come_with_copies_of_their_arrays():
    array = made((0, 4, 8, 1), SURFACE)
    of = cp.cuda.texture
    rows = cp.arange(64, dtype=np.float32).reshape(2, 32)
    pitch = of.TextureObject(
        of.ResourceDescriptor(
            3,
            arr=rows,
            chDesc=of.ChannelFormatDescriptor(32, 0, 0, 0, 2),
            width=32,
            height=2,
            pitchInBytes=128,
        ),
        of.TextureDescriptor((BORDER,) * 3, 1, borderColors=(7.0,)),
    )
    given = OfGpu(texture_of(array, WRAP, normalized=1)), OfGpu(surface_of(array)), OfGpu(pitch)
    (texture, surface, other), copies = carry_over(given)
    assert texture.ResDesc.cuArr is surface.ResDesc.cuArr is not array
    for one, here in zip(given, (texture, surface, other), strict=True):
        before, after = (x.ResDesc.get_resource_desc() for x in (one, here))
        assert before.keys() == after.keys() and before["resType"] == after["resType"]
        if here is not surface:
            assert one.TexDesc.get_texture_desc() == here.TexDesc.get_texture_desc()
    source = FAULTS.replace("WHAT", "surf2Dwrite(out[x], s, x * 4, 2)")
    run(source, "f", (texture, surface, cp.full(8, 5, np.float32)), block=8)
    untouched = array.get()
    for gpu, copy in copies:
        gpu.set(copy.get(order="A"))
    assert (untouched == np.arange(32).reshape(4, 8)).all()
    assert (array.get()[2] == 5).all() and (array.get()[3] == untouched[3]).all()


def test_load_takes_textures_for_their_c_type():
    source = FAULTS.replace("WHAT", "out[x] = tex2D<float>(t, x, 1)")
    kernel = load(source=source, device="emulator")["f"]
    array, out = made((0, 4, 8, 1), SURFACE), cp.zeros(8, np.float32)
    kernel.launch(1, 8, (texture_of(array), surface_of(array), out))
    assert out.tolist() == list(range(8, 16))


def test_the_report_counts_the_cases():
    text = PAGE.read_text(encoding="utf-8")
    assert f"{len(CASES)} kinds of fetch" in text
    assert f"{len(CASES) - len(NEARLY)} are equal bit for bit" in text
