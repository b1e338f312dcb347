"""A drawing becomes an image as MNIST's are, and a page in a notebook asks the kernel about it."""

import base64
import builtins
import re
from types import SimpleNamespace

import numpy as np
import pytest

from course_utils import centred, digits, drawing_pad, read_drawing
from course_utils.errors import LessonError
from course_utils.figures import activations, drawn_digits
from course_utils.notebooks.canonical import _data

SIDE = drawn_digits.SIDE


def as_text(drawing):
    return base64.b64encode(np.packbits(drawing)).decode()


def stroke(rows, columns):
    drawing = np.zeros((SIDE, SIDE), bool)
    drawing[rows, columns] = True
    return drawing


def test_an_enlarged_digit_becomes_what_it_was():
    images, _ = digits("test")
    same = [
        np.abs(centred(np.kron(image, np.ones((4, 4)))).astype(int) - image).mean() < 0.5
        for image in images[:50]
    ]
    assert all(same)


@pytest.mark.parametrize(
    "rows, columns",
    [(slice(0, 10), slice(0, 10)), (slice(5, 100), slice(90, 97)), (55, slice(9, 99))],
)
def test_a_drawing_fits_the_box_and_its_mass_is_in_the_middle(rows, columns):
    image = centred(stroke(rows, columns))
    used = [np.flatnonzero(image.any(axis)) for axis in (0, 1)]
    assert image.shape == (28, 28) and image.dtype == np.uint8 and image.max() == 255
    assert max(places[-1] - places[0] + 1 for places in used) == 20
    for axis in (0, 1):
        mass = image.sum(axis, dtype=float)
        assert abs(np.arange(28) @ mass / mass.sum() - 14) <= 0.5


def test_a_drawing_is_read_from_its_text():
    drawing = stroke(slice(20, 90), slice(50, 60))
    assert np.array_equal(read_drawing(f" {as_text(drawing)}\n"), centred(drawing))


@pytest.mark.parametrize("text", ["", "abc", "not base64!", base64.b64encode(b"short").decode()])
def test_what_is_no_drawing_is_refused(text):
    with pytest.raises(LessonError, match="This is no drawing"):
        read_drawing(text)


def test_an_empty_drawing_is_named():
    with pytest.raises(LessonError, match="Nothing is drawn yet"):
        read_drawing(as_text(np.zeros((SIDE, SIDE), bool)))


def reply_to(text, answer):
    sent = []
    message = {"content": {"data": {"drawing": text}}}
    drawn_digits._reply(SimpleNamespace(send=sent.append), message, answer)
    return sent[0]


def test_the_page_gets_a_sentence_and_a_picture():
    figure = activations(np.eye(28), {"conv1": np.zeros((16, 4, 4))}, [0.2, 0.8])
    found = reply_to(as_text(stroke(3, slice(3, 9))), lambda image: (str(image.shape), figure))
    assert found["text"] == "(28, 28)"
    assert base64.b64decode(found["png"]).startswith(b"\x89PNG")


def test_the_page_is_told_what_went_wrong():
    empty = as_text(np.zeros((SIDE, SIDE), bool))
    assert reply_to(empty, None) == {"text": "Nothing is drawn yet.", "png": ""}
    found = reply_to(as_text(stroke(3, 4)), lambda image: builtins.int("seven"))
    assert found["text"].startswith("ValueError") and not found["png"]


def test_without_a_notebook_the_page_is_not_shown(capsys):
    drawing_pad(lambda image: ("", None))
    assert "in a notebook" in capsys.readouterr().out


def test_a_page_with_a_script_is_not_committed():
    kept = _data({"text/html": "<p>x</p><script>1</script>", "text/plain": "a page"})
    assert dict(kept) == {"text/plain": "a page"}
    assert "text/html" in _data({"text/html": "<p>x</p>"})


def test_the_page_names_nothing_that_it_does_not_get():
    page = drawn_digits.PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"(?<!\$)\$(\w+)", page)) == {"kernel", "target", "side"}
    assert "http" not in page.replace("/^http/", "")
