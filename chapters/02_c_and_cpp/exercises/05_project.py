"""The project of the chapter: a program that blurs a picture."""

from __future__ import annotations

import numpy as np

from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import HostExercise

REFUSED = "not a picture\n"


def numbers_of(words: list[str]) -> list[int]:
    """The numbers of a picture's words, and none if they aren't a picture."""
    if words[:1] != ["P2"] or not all(w.isascii() and w.isdigit() for w in words[1:]):
        return []
    numbers = [int(word) for word in words[1:]]
    if len(numbers) < 4 or any(len(word) > 7 for word in words):
        return []
    width, height, largest, *pixels = numbers
    fits = 1 <= width <= 1000 and 1 <= height <= 1000 and 1 <= largest <= 65535
    return numbers if fits and len(pixels) == width * height and max(pixels) <= largest else []


def blurred(text: str) -> str:
    words = [word for line in text.split("\n") for word in line.partition("#")[0].split()]
    if not (numbers := numbers_of(words)):
        return REFUSED
    width, height, largest, *pixels = numbers
    picture = np.pad(np.array(pixels, np.int64).reshape(height, width), 1)
    there = np.pad(np.ones((height, width), np.int64), 1)
    around = [(slice(r, r + height), slice(c, c + width)) for r in range(3) for c in range(3)]
    means = np.sum([picture[at] for at in around], 0) // np.sum([there[at] for at in around], 0)
    rows = [" ".join(map(str, row)) for row in means.tolist()]
    return "\n".join(["P2", f"{width} {height}", str(largest), *rows, ""])


def picture(rng: np.random.Generator, width: int, height: int, largest: int) -> str:
    rows = rng.integers(0, largest + 1, (height, width)).tolist()
    lines = [" ".join(map(str, row)) for row in rows]
    return "\n".join(["P2", f"{width} {height}", str(largest), *lines, ""])


def spoilt(rng: np.random.Generator, text: str) -> str:
    """``text`` with a comment, or with a fault somewhere after its first word."""
    words = text.split()
    at = int(rng.integers(1, len(words)))
    change = int(rng.integers(5))
    if change == 0:
        words[at] += "# a comment\n"
    elif change == 1:
        words[at] += "x"
    elif change == 2:
        words[at] = "-1"
    elif change == 3:
        del words[at]
    else:
        words.insert(at, "# 7 8\n3")
    return " ".join(words) + "\n"


def drawn(rng: np.random.Generator) -> str:
    shape = (int(rng.integers(1, 12)), int(rng.integers(1, 12)))
    text = picture(rng, *shape, int(rng.choice([1, 9, 255, 65535])))
    return spoilt(rng, text) if rng.integers(2) else text


RNG = np.random.default_rng(5)

BLUR_PICTURE = HostExercise(
    cases=(
        "P2 3 1 9 # a row of three\n9 0 3\n",
        "P2\n1 1\n255\n7\n",
        "P2 1 3 9\n9\n0\n3\n",
        "P2 3 2 9\n1 2 3\n4 5 6\n",
        "# first\nP2#second\n2 2 9\n1 2# third\n3 4 # last",
        "P2 2 2 9\n1 2 3\n",
        "P2 2 2 9\n1 2 3 4 5\n",
        "P2 2 2 9\n1 2 3 10\n",
        "P2 2 1 9\n7x 1\n",
        "P5 1 1 9\n7\n",
        "P2 0 1 9\n",
        "P2 1000 1000 9\n",
        "P2 1 1 9 1 12345678901234567890\n",
        "P2 1 1 9 4294967299\n",
        "P2 1 1 9 -1\n",
        "P2",
        "",
        picture(RNG, 70, 1, 65535),
        picture(RNG, 41, 33, 65535),
    ),
    reference=blurred,
    contract=DrawnCases(
        drawn,
        large=lambda: (
            picture(np.random.default_rng(6), 1000, 7, 65535),
            picture(np.random.default_rng(7), 7, 1000, 1),
            picture(np.random.default_rng(8), 1000, 1000, 9)[:-2],  # the last one is missing
        ),
        tried="pictures up to 1,000 pixels wide or high, comments in all places, and texts that "
        "aren't a picture",
    ),
)
