"""A page to draw a digit on, and the steps that make the drawing look like MNIST's.

The page is HTML and JavaScript in a cell's output. It sends the drawing to the kernel by Jupyter's
own messages (a comm), through the server that the page came from. An editor's notebook has none:
there the drawing can be copied as text.
"""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ..errors import LessonError
from ..shell import running_shell
from .style import png

SIDE = 112  # pixels of the page, each way
BOX, IMAGE = 20, 28  # of a digit of MNIST, and of its image
PAGE = Path(__file__).with_name("drawing_pad.html")
_numbers = itertools.count(1)


def drawing_pad(answer: Callable[[np.ndarray], tuple[str, Any]]) -> None:
    """Show a page to draw on. ``answer`` gets each drawing as an image as MNIST has them, uint8 of
    28 x 28, and returns a sentence for the page, and a figure or None.

    Outside a notebook it only says so.
    """
    shell = running_shell()
    if shell is None or not hasattr(shell, "kernel"):
        print("The page to draw on is there in a notebook.")
        return
    from ipykernel.connect import get_connection_file
    from IPython.display import display

    target = f"course_drawing_{next(_numbers)}"
    shell.kernel.comm_manager.register_target(target, lambda comm, msg: _reply(comm, msg, answer))
    kernel = Path(get_connection_file()).stem.removeprefix("kernel-")
    html = Template(PAGE.read_text(encoding="utf-8")).substitute(
        kernel=kernel, target=target, side=SIDE
    )
    display({"text/html": html, "text/plain": "A page to draw on: run this cell."}, raw=True)


def _reply(comm: Any, message: dict[str, Any], answer: Callable[[np.ndarray], Any]) -> None:
    try:
        text, figure = answer(read_drawing(message["content"]["data"]["drawing"]))
        picture = base64.b64encode(png(figure)).decode() if figure is not None else ""
    except LessonError as error:  # shown beside the drawing
        text, picture = str(error), ""
    except Exception as error:
        text, picture = f"{type(error).__name__}: {error}", ""
    comm.send({"text": text, "png": picture})


def read_drawing(text: str) -> np.ndarray:
    """The image, uint8 of 28 x 28, of a drawing that the page shows as text.

    Raises LessonError where the text isn't a drawing, or is an empty one.
    """
    try:
        found = np.frombuffer(base64.b64decode(text.strip(), validate=True), np.uint8)
    except (binascii.Error, ValueError):
        found = np.zeros(0, np.uint8)
    if found.size * 8 != SIDE * SIDE:
        raise LessonError(
            f"This is no drawing: {len(text)} characters, of which {SIDE} x {SIDE} pixels were "
            "not made. Copy the whole text below the page."
        )
    return centred(np.unpackbits(found).reshape(SIDE, SIDE))


def centred(drawing: np.ndarray) -> np.ndarray:
    """A drawing (rows, columns), 0 where it's empty, as MNIST's images are made: the digit fits a
    box of 20 x 20, grey at its edges, and its centre of mass is in pixel (14, 14) of 28 x 28.

    uint8. Raises LessonError for an empty drawing. (Source: the page of MNIST's authors.)
    """
    drawing = np.asarray(drawing, dtype=np.float64)
    rows, columns = (np.flatnonzero(drawing.any(axis)) for axis in (1, 0))
    if not rows.size:
        raise LessonError("Nothing is drawn yet.")
    ink = drawing[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    ink = ink / ink.max()
    scale = BOX / max(ink.shape)
    down, across = (_shrink(n, max(1, round(n * scale))) for n in ink.shape)
    digit = down @ ink @ across.T
    image = np.zeros((IMAGE, IMAGE))
    corner = []
    for axis, length in enumerate(digit.shape):
        mass = digit.sum(1 - axis)
        centre = np.arange(length) @ mass / mass.sum()
        corner.append(min(max(round(IMAGE / 2 - centre), 0), IMAGE - length))
    top, left = corner
    image[top : top + digit.shape[0], left : left + digit.shape[1]] = digit
    return np.round(255 * image).astype(np.uint8)


def _shrink(old: int, new: int) -> np.ndarray:
    """new x old weights: each new pixel is the mean of the old ones that it covers."""
    edges = np.arange(new + 1)[:, None] * old / new
    left, right = edges[:-1], edges[1:]
    cells = np.arange(old)[None, :]
    covered = np.minimum(right, cells + 1) - np.maximum(left, cells)
    weights: np.ndarray = np.clip(covered, 0, None) * new / old
    return weights
