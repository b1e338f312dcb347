"""Labelled images of chapter 09: the digits that come with the course, or a folder of IDX files.

IDX is how MNIST and Fashion-MNIST are published: two zero bytes, a byte that names the type of the
elements (8 for unsigned bytes), a byte with the number of axes, the length of each axis as four
bytes with the most significant first, and then the elements. `assets/data/README.md` says where
the digits of the course come from.
"""

from __future__ import annotations

import gzip
import os
import zlib
from math import prod
from pathlib import Path

import numpy as np

from ..errors import LessonError
from ..paths import ASSETS

DIGITS = ASSETS / "data" / "mnist_digits.npz"
VARIABLE = "COURSE_MNIST"  # the environment variable that names a folder of IDX files
FILES = {  # as MNIST and Fashion-MNIST name them, each also with .gz behind it
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
TRAINING = 9000  # of the course's 10,000 digits; the others are for testing
CLASSES = 10
UNSIGNED_BYTES = 8


def digits(split: str = "train") -> tuple[np.ndarray, np.ndarray]:
    """Images, uint8 of shape (n, 28, 28), and their labels 0...9, uint8 of shape (n,).

    ``split`` is "train" or "test". They come from the folder that the environment variable
    COURSE_MNIST names (60,000 and 10,000 images in IDX files, of MNIST or of Fashion-MNIST), or,
    where it is not set, from the digits of the course: 9,000 and 1,000 of MNIST's.
    Raises LessonError for another split and for files that are missing, cut or of another shape.
    """
    if split not in FILES:
        raise LessonError(f'digits({split!r}): say "train" or "test".')
    folder = os.environ.get(VARIABLE)
    if folder:
        return _from_folder(Path(folder).expanduser(), split)
    with np.load(DIGITS) as stored:
        chosen = slice(TRAINING) if split == "train" else slice(TRAINING, None)
        return stored["images"][chosen], stored["labels"][chosen]


def read_idx(path: Path | str) -> np.ndarray:
    """The array of unsigned bytes in an IDX file, gzipped or plain: uint8, of the file's shape.

    Raises LessonError where the file cannot be read, is of another kind, cut or too long.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise LessonError(f"{path} cannot be read: {error}.") from None
    if len(data) < 4 or data[:2] != b"\0\0":
        raise LessonError(f"{path} is not an IDX file, which begins with two zero bytes.")
    if data[2] != UNSIGNED_BYTES:
        raise LessonError(f"{path} has elements of type {data[2]}; this reads unsigned bytes (8).")
    axes = data[3]
    start = 4 + 4 * axes
    if len(data) < start:
        raise LessonError(f"{path} ends within its header, which has {start} bytes.")
    shape = tuple(int(length) for length in np.frombuffer(data, ">u4", axes, 4))
    if len(data) != start + prod(shape):
        raise LessonError(
            f"{path} has {len(data) - start} elements, but its header says {shape}, which is "
            f"{prod(shape)}. Fetch the file again."
        )
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _from_folder(folder: Path, split: str) -> tuple[np.ndarray, np.ndarray]:
    images, labels = (read_idx(_found(folder, name)) for name in FILES[split])
    if images.ndim != 3 or images.shape[1:] != (28, 28):
        raise LessonError(f"{FILES[split][0]} holds {images.shape}; chapter 09 wants (n, 28, 28).")
    if labels.shape != (len(images),):
        raise LessonError(
            f"{folder} has {len(images)} images and labels of shape {labels.shape} for "
            f"{split}: they do not belong together."
        )
    if labels.size and labels.max() >= CLASSES:
        raise LessonError(f"{FILES[split][1]} has a label {labels.max()}; they go from 0 to 9.")
    return images, labels


def _found(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise LessonError(
        f"{VARIABLE} is set to {folder}, which has no {name} and no {name}.gz. Name the folder "
        "with the four IDX files of MNIST or Fashion-MNIST, or unset "
        f"{VARIABLE} to use the course's own."
    )
