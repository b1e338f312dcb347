"""The digits of the course, and IDX files, whole and broken."""

import gzip
import hashlib
import struct

import numpy as np
import pytest

from course_utils import digits
from course_utils.data import image_sets
from course_utils.errors import LessonError
from course_utils.paths import ASSETS


def idx(array: np.ndarray, kind: int = 8) -> bytes:
    """The array as an IDX file."""
    header = bytes([0, 0, kind, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.tobytes()


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv(image_sets.VARIABLE, raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A full set of five and three images, one file of it gzipped."""
    rng = np.random.default_rng(3)
    for split, n in (("train", 5), ("test", 3)):
        images, labels = image_sets.FILES[split]
        pixels = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        (tmp_path / images).write_bytes(idx(pixels))
        (tmp_path / f"{labels}.gz").write_bytes(gzip.compress(idx(np.arange(n, dtype=np.uint8))))
    monkeypatch.setenv(image_sets.VARIABLE, str(tmp_path))
    return tmp_path


def test_the_digits_are_those_that_the_page_on_them_describes():
    (images, labels), (more, others) = digits("train"), digits("test")
    assert images.shape == (9000, 28, 28)
    assert more.shape == (1000, 28, 28)
    assert images.dtype == labels.dtype == np.uint8
    everything = (
        np.concatenate([images, more]).tobytes() + np.concatenate([labels, others]).tobytes()
    )
    found = hashlib.sha256(everything).hexdigest()
    assert found in (ASSETS / "data" / "README.md").read_text(encoding="utf-8")
    for part in (labels, others):
        assert np.bincount(part, minlength=10).min() > 0.7 * len(part) / 10


def test_a_folder_of_idx_files_takes_their_place(folder):
    images, labels = digits("test")
    assert images.shape == (3, 28, 28)
    assert labels.tolist() == [0, 1, 2]
    assert len(digits()[0]) == 5


def test_another_split_is_refused():
    with pytest.raises(LessonError, match='say "train" or "test"'):
        digits("validation")


def test_a_folder_without_the_files_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(image_sets.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(LessonError, match=r"nowhere, which has no train-images-idx3-ubyte"):
        digits()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not an IDX file"),
        (b"\0\0", "not an IDX file"),
        (b"PK\3\4 a zip file", "not an IDX file"),
        (idx(np.zeros(4, np.float32), 13), "elements of type 13"),
        (idx(np.zeros((2, 3), np.uint8))[:9], "ends within its header, which has 12 bytes"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], r"5 elements, but its header says \(2, 3\)"),
        (idx(np.zeros((2, 3), np.uint8)) + b"\0", "7 elements"),
        (gzip.compress(idx(np.zeros(50, np.uint8)), mtime=0)[:-9], "cannot be read"),
    ],
)
def test_a_broken_file_is_refused_with_what_is_wrong(tmp_path, content, words):
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(LessonError, match=words):
        image_sets.read_idx(path)


def test_files_that_do_not_belong_together_are_refused(folder):
    images, labels = (folder / name for name in image_sets.FILES["train"])
    labels.write_bytes(idx(np.zeros(4, np.uint8)))
    with pytest.raises(LessonError, match="do not belong together"):
        digits()
    labels.write_bytes(idx(np.full(5, 10, np.uint8)))
    with pytest.raises(LessonError, match="a label 10"):
        digits()
    images.write_bytes(idx(np.zeros((5, 14, 14), np.uint8)))
    with pytest.raises(LessonError, match=r"wants \(n, 28, 28\)"):
        digits()
