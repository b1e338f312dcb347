"""``cp.cuda.texture`` on the emulator: CUDA arrays, textures and surfaces, made as with CuPy.

Source: CUDA Runtime API, "Texture Object Management", and CuPy's page of ``cupy.cuda.texture``.
CuPy has no mipmaps and no layered one-dimensional arrays, and so there are none here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emulator import Surface, Texels, Texture
from ..errors import LessonError
from ..integers import ceil_div
from .emulated_arrays import asnumpy, empty, ndarray, plain
from .emulated_cuda import runtime

ROW_BYTES = 64  # a row of a CUDA array begins at a multiple of these. CUDA does not say of how many
_KINDS = {0: "i", 1: "u", 2: "f"}
_MODES = ("wrap", "clamp", "mirror", "border")
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8  # cudaArrayLayered and so on. CuPy names one


class TextureError(LessonError):
    """An array, a texture or a surface that CUDA would refuse."""


class ChannelFormatDescriptor:
    """Bits of the channels x, y, z and w of an element, and their kind."""

    def __init__(self, x: int, y: int, z: int, w: int, f: int) -> None:
        self._format = {"x": x, "y": y, "z": z, "w": w, "f": f}

    def get_channel_format(self) -> dict[str, int]:
        """The bits of x, y, z and w, and the kind as f: 0 signed, 1 unsigned, 2 float."""
        return dict(self._format)


def _element(descriptor: ChannelFormatDescriptor) -> tuple[np.dtype, int]:
    """Type of a channel, number of channels."""
    named = descriptor.get_channel_format()
    bits = [named[c] for c in "xyzw"]
    count = sum(b > 0 for b in bits)
    kind = _KINDS.get(named["f"])
    same = bits[:count] == [bits[0]] * count
    if kind is None or count not in (1, 2, 4) or not same or bits[0] not in (8, 16, 32):
        raise TextureError(
            f"ChannelFormatDescriptor{(*bits, named['f'])}: an element has 1, 2 or 4 channels of "
            "8, 16 or 32 bits each, the same for all; those that it lacks have 0, and come last."
        )
    if kind == "f" and bits[0] == 8:
        raise TextureError("ChannelFormatDescriptor: there are no channels of 8-bit floats.")
    return np.dtype(f"{kind}{bits[0] // 8}"), count


class CUDAarray:
    """An array for textures and surfaces, of 1 to 3 dimensions. ``depth`` counts the layers of a
    layered one (flag 1) and the faces of a cubemap (flag 4)."""

    def __init__(
        self,
        desc: ChannelFormatDescriptor,
        width: int,
        height: int = 0,
        depth: int = 0,
        flags: int = 0,
    ) -> None:
        if width == 0:
            raise ValueError("To create a CUDA array, width must be nonzero.")
        if height == 0 and depth > 0:
            raise ValueError("To create a 2D CUDA array, height must be nonzero.")
        if flags & (LAYERED | CUBEMAP) and not depth:
            raise TextureError("CUDAarray: a layered array or a cubemap needs depth, its layers.")
        faces = depth % 6 == 0 if flags & LAYERED else depth == 6
        if flags & CUBEMAP and (width != height or not faces):
            raise TextureError(
                "CUDAarray: a cubemap has width = height and six layers, or a multiple of six with "
                "the flag cudaArrayLayered."
            )
        self.desc, self.flags = desc, flags
        self.width, self.height, self.depth = width, height, depth
        self.ndim = 3 if depth else 2 if height else 1
        self._dtype, channels = _element(desc)
        shape = max(depth, 1), max(height, 1), width, channels
        row = ceil_div(width * channels * self._dtype.itemsize, ROW_BYTES) * ROW_BYTES
        storage = plain(empty((shape[0], shape[1], row // self._dtype.itemsize), self._dtype))
        texel = channels * self._dtype.itemsize
        strides = shape[1] * row, row, texel, self._dtype.itemsize
        self._elements: np.ndarray = np.ndarray(shape, self._dtype, storage, strides=strides)
        layered = bool(flags & LAYERED)
        stacked = layered or bool(flags & CUBEMAP)
        self.texels = Texels(
            self._elements, 2 if stacked else self.ndim, layered, bool(flags & CUBEMAP)
        )

    @classmethod
    def copy_of(cls, array: Any) -> CUDAarray:
        """An array with the present contents of ``array``, CuPy's of a GPU."""
        named = array.desc.get_channel_format()
        made = cls(
            ChannelFormatDescriptor(*(named[c] for c in "xyzwf")),
            array.width,
            array.height,
            array.depth,
            array.flags,
        )
        held = made.get()
        array.copy_to(held)
        made.copy_from(held)
        return made

    def get(self, order: Any = "C") -> np.ndarray:
        """A copy as a NumPy array, of the shape that :meth:`copy_to` wants. CuPy's has no such."""
        depth, height, width, channels = self._elements.shape
        shape = (depth, height, width * channels)[3 - self.ndim :]
        return self._elements.reshape(shape).copy()

    def _of_copy(self, array: Any) -> np.ndarray:
        """The elements as the copied array has them: channels beside each other in a row."""
        shape = self.get().shape
        if array.shape != shape:
            raise ValueError(f"shape mismatch: the array has {array.shape}, wanted is {shape}")
        if array.dtype != self._dtype:
            raise ValueError(f"dtype mismatch: {array.dtype}, wanted is {self._dtype}")
        return self._elements

    def copy_from(self, in_arr: Any, stream: Any = None) -> None:
        """Copy a cp or NumPy array of shape (depth, height, channels · width) here, less the
        dimensions that there are not."""
        mine = self._of_copy(in_arr)
        mine[...] = asnumpy(in_arr).reshape(mine.shape)

    def copy_to(self, out_arr: Any, stream: Any = None) -> None:
        """Copy to a cp or NumPy array of the same shape. Raises ValueError unless it is
        C-contiguous."""
        if not out_arr.flags.c_contiguous:
            raise ValueError("The output array must be C-contiguous")
        mine = self._of_copy(out_arr)
        plain(out_arr)[...] = mine.reshape(out_arr.shape)


class ResourceDescriptor:
    """The memory of a texture or a surface: a CUDAarray, or an array of linear memory."""

    def __init__(
        self,
        restype: int,
        cuArr: CUDAarray | None = None,  # noqa: N803 (CuPy's own names)
        arr: ndarray | None = None,
        chDesc: ChannelFormatDescriptor | None = None,  # noqa: N803
        sizeInBytes: int = 0,  # noqa: N803
        width: int = 0,
        height: int = 0,
        pitchInBytes: int = 0,  # noqa: N803
    ) -> None:
        if restype == runtime.cudaResourceTypeMipmappedArray:
            raise NotImplementedError("cudaResourceTypeMipmappedArray is currently not supported.")
        self.restype, self.cuArr, self.arr, self.chDesc = restype, cuArr, arr, chDesc
        self._sizes = sizeInBytes, width, height, pitchInBytes
        self.texels = self._texels()

    def _texels(self) -> Texels:
        if self.restype == runtime.cudaResourceTypeArray:
            if self.cuArr is None:
                raise TextureError("ResourceDescriptor: cudaResourceTypeArray needs cuArr.")
            return self.cuArr.texels
        if self.arr is None or self.chDesc is None:
            raise TextureError("ResourceDescriptor: linear memory needs arr and chDesc.")
        if not isinstance(self.arr, ndarray) or not self.arr.flags.c_contiguous:
            raise TextureError("ResourceDescriptor: arr must be a contiguous cp array.")
        dtype, channels = _element(self.chDesc)
        texel = dtype.itemsize * channels
        size, width, height, pitch = self._sizes
        if self.restype == runtime.cudaResourceTypeLinear:
            width, height, pitch = size // texel, 1, size // texel * texel
        needed = pitch * (height - 1) + width * texel
        if not width or not height or not 0 < needed <= self.arr.nbytes or pitch < width * texel:
            raise TextureError(
                f"ResourceDescriptor: {height} row(s) of {width} elements of {texel} bytes, "
                f"{pitch} bytes from one to the next, do not fit an array of {self.arr.nbytes} "
                "bytes. Were width, height, pitchInBytes or sizeInBytes left out?"
            )
        storage = plain(self.arr).reshape(-1).view(np.uint8)
        elements: np.ndarray = np.ndarray(
            (1, height, width, channels),
            dtype,
            storage,
            strides=(pitch * height, pitch, texel, dtype.itemsize),
        )
        linear = self.restype == runtime.cudaResourceTypeLinear
        return Texels(elements, 1 if linear else 2, linear=linear)

    def get_resource_desc(self) -> dict[str, Any]:
        """What was given, under CUDA's names."""
        found: dict[str, Any] = {"resType": self.restype}
        size, width, height, pitch = self._sizes
        if self.arr is None or self.chDesc is None:
            return found | {"array": {"array": id(self.cuArr)}}
        memory = {"devPtr": self.arr.data.ptr, "desc": self.chDesc.get_channel_format()}
        if self.restype == runtime.cudaResourceTypeLinear:
            return found | {"linear": memory | {"sizeInBytes": size}}
        return found | {
            "pitch2D": memory | {"width": width, "height": height, "pitchInBytes": pitch}
        }


class TextureDescriptor:
    """How a texture is read: addressing modes, filter, read mode, coordinates."""

    def __init__(
        self,
        addressModes: Any = None,  # noqa: N803
        filterMode: int = 0,  # noqa: N803
        readMode: int = 0,  # noqa: N803
        sRGB: Any = None,  # noqa: N803
        borderColors: Any = None,  # noqa: N803
        normalizedCoords: Any = None,  # noqa: N803
        maxAnisotropy: Any = None,  # noqa: N803
    ) -> None:
        if sRGB:
            raise TextureError("TextureDescriptor: the emulator knows no sRGB.")
        given = tuple(addressModes or ())
        self.modes = tuple(_MODES[int(mode)] for mode in (*given, *[0] * 3)[:3])
        self.linear = filterMode == runtime.cudaFilterModeLinear
        self.unit = readMode == runtime.cudaReadModeNormalizedFloat
        self.border = tuple(float(c) for c in (*(borderColors or ()), *[0] * 4)[:4])
        self.normalized = bool(normalizedCoords)
        self._given = filterMode, readMode, int(maxAnisotropy or 0)

    def get_texture_desc(self) -> dict[str, Any]:
        """What was given, under CUDA's names."""
        return {
            "addressMode": tuple(map(_MODES.index, self.modes)),
            "filterMode": self._given[0],
            "readMode": self._given[1],
            "sRGB": 0,
            "borderColor": self.border,
            "normalizedCoords": int(self.normalized),
            "maxAnisotropy": self._given[2],
        }


class TextureObject:
    """A texture, to pass to a kernel for a parameter of type ``cudaTextureObject_t``.

    Raises TextureError for what CUDA would refuse.
    """

    def __init__(self, ResDesc: ResourceDescriptor, TexDesc: TextureDescriptor) -> None:  # noqa: N803
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        texels, how = ResDesc.texels, TexDesc
        dtype = texels.elements.dtype
        if how.linear and dtype.kind != "f" and not how.unit:
            raise TextureError(
                "TextureObject: linear filtering needs numbers with a fraction, and this texture "
                "reads integers. Take cudaFilterModePoint or cudaReadModeNormalizedFloat."
            )
        if how.unit and dtype.kind != "f" and dtype.itemsize == 4:
            raise TextureError(
                "TextureObject: cudaReadModeNormalizedFloat is for integers of 8 and 16 bits."
            )
        self._texture = Texture(
            texels,
            ("clamp",) * 3 if texels.cube else how.modes,
            how.linear,
            how.normalized,
            how.unit and dtype.kind != "f",
            how.border,
        )

    @property
    def ptr(self) -> int:
        """The handle that a kernel takes."""
        return self._texture.handle


class SurfaceObject:
    """A surface, to pass to a kernel for a parameter of type ``cudaSurfaceObject_t``.

    Raises TextureError for what CUDA would refuse.
    """

    def __init__(self, ResDesc: ResourceDescriptor) -> None:  # noqa: N803
        self.ResDesc = ResDesc
        if ResDesc.cuArr is None or not ResDesc.cuArr.flags & SURFACE:
            raise TextureError(
                "SurfaceObject: a surface is of a CUDAarray that was made with "
                "flags=cp.cuda.runtime.cudaArraySurfaceLoadStore."
            )
        self._surface = Surface(ResDesc.texels)

    @property
    def ptr(self) -> int:
        """The handle that a kernel takes."""
        return self._surface.handle


# --- objects of a GPU -----------------------------------------------------------------------------


class GpuArray:
    """A CUDAarray of a GPU, which is filled as a cp array is."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def set(self, values: np.ndarray) -> None:
        """Copy a NumPy array there."""
        self._array.copy_from(values)


def of_gpu(value: Any, array: Any, memory: Any) -> TextureObject | SurfaceObject:
    """The emulator's counterpart of CuPy's TextureObject or SurfaceObject ``value``: of ``array``,
    the counterpart of its CUDAarray, or of ``memory``, for its linear memory."""
    given = value.ResDesc.get_resource_desc()
    how = given.get("linear") or given.get("pitch2D") or {}
    form = None
    if how:
        form = ChannelFormatDescriptor(*(how["desc"][c] for c in "xyzwf"))
    resource = ResourceDescriptor(
        given["resType"],
        array,
        memory,
        form,
        how.get("sizeInBytes", 0),
        how.get("width", 0),
        how.get("height", 0),
        how.get("pitchInBytes", 0),
    )
    if not hasattr(value, "TexDesc"):
        return SurfaceObject(resource)
    told = value.TexDesc.get_texture_desc()
    return TextureObject(
        resource,
        TextureDescriptor(
            told["addressMode"],
            told["filterMode"],
            told["readMode"],
            told["sRGB"],
            told["borderColor"],
            told["normalizedCoords"],
            told["maxAnisotropy"],
        ),
    )
