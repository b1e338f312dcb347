"""Finds the measured figures in prose, and says which of them nothing vouches for.

A figure is a number with one of :data:`UNITS`, such as "2.59 ms" or "1.05×". What vouches for it:

- a text output of the same notebook that holds the unit and a number that rounds to the quoted one;
- ``QUOTES`` of the notebook's file in ``quotes/``: the quoted text, and a function that draws the
  numbers in it from the records;
- ``FACTS`` there: the quoted text, and the data sheet or manual it comes from;
- ``GIVEN`` there: texts whose numbers the lesson sets itself (a question's premise, a count that
  the sentence reasons out).

A quoted text may be longer than the figure ("more than 2000 GB/s"), so that it means one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

# For each kind of measure its units, and how many of the smallest of them each is.
KINDS: dict[str, dict[str, float]] = {
    "time": {
        "ns nanosecond nanoseconds": 1.0,
        "µs μs us microsecond microseconds": 1e3,
        "ms millisecond milliseconds": 1e6,
        "s second seconds": 1e9,
    },
    "bytes a second": {"MB/s": 1.0, "GB/s": 1e3, "TB/s": 1e6},
    "operations a second": {"GFLOP/s": 1.0, "TFLOP/s TOP/s": 1e3},
    "ratio": {"× times": 1.0},
    "share": {"% percent": 1.0},
    "cycles": {"cycle cycles clock clocks": 1.0},
    "power": {"W watt watts": 1.0},
    "frequency": {"MHz": 1.0, "GHz": 1e3},
}
UNITS = {
    unit: (kind, factor)
    for kind, units in KINDS.items()
    for names, factor in units.items()
    for unit in names.split()
}
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
# Several numbers may share a unit: "0.77 to 0.40 ms", "1, 2 and 3 ms". "32 × 32" is a shape, and
# "14 % 8" what is left of a division.
IN_DIGITS = re.compile(
    rf"(?<![\w.,/^√-])({NUMBER}(?:(?:, | to | and | or |–|/){NUMBER})*)"
    rf" ?({UNIT})(?![\w/])(?!(?<=[×%]) ?[A-Z\d])"
)
# Below ten a word counts what the sentence is about far more often than what was measured.
ONES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
WORDS = {"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15}
WORDS |= {"sixteen": 16, "eighteen": 18, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
WORDS |= {"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000}
IN_WORDS = re.compile(rf"\b((?:(?:{'|'.join(ONES)}) )?(?:{'|'.join(WORDS)})) (times)\b")
NOT_READ = re.compile(r"^(```|~~~).*?^\1|`[^`]*`|\$\$.+?\$\$|<!--.*?-->|\]\([^)]*\)", re.M | re.S)
CLOSE = 0.1  # nothing stands for a number that is farther away than this share of it


@dataclass(frozen=True)
class Figure:
    """One number of the prose: its place in the prose, the number as written, and its unit."""

    start: int
    end: int
    number: str
    unit: str

    @property
    def value(self) -> float:
        if self.number[0].isdigit():
            return float(self.number.replace(",", ""))
        *ones, word = self.number.split()
        return WORDS[word] * (ONES[ones[0]] if ones else 1)

    def stands_for(self, value: float) -> bool:
        """Whether ``value``, in this figure's unit, rounds to the number written.

        A number in words is a round one: the value may be up to a tenth away.
        """
        reach = CLOSE * self.value
        if self.number[0].isdigit():
            half_of_last_digit = 0.5 * 10.0 ** -len(self.number.partition(".")[2])
            reach = min(reach, half_of_last_digit)
        return abs(value - self.value) <= reach * (1 + 1e-9)

    def __str__(self) -> str:
        return f"{self.number} {self.unit}"


@dataclass(frozen=True)
class Bound:
    """A value drawn from a record, and between which numbers the quoted one may be."""

    value: float
    least: float
    most: float


def more_than(value: float, within: float = 1.5) -> Bound:
    """The quoted number is a floor of ``value``, which is at most ``within`` times as much."""
    return Bound(value, value / within, value)


def less_than(value: float, within: float = 1.5) -> Bound:
    """The quoted number is a ceiling of ``value``, and at most ``within`` times as much."""
    return Bound(value, value, value * within)


def about(value: float, within: float = 0.1) -> Bound:
    """The quoted number is a round one, at most ``within`` (a share) away."""
    return Bound(value, value * (1 - within), value * (1 + within))


Drawn = float | Bound
Draw = Callable[[], Drawn | Sequence[Drawn]]


@dataclass(frozen=True)
class Quotes:
    """What a file of ``quotes/`` says about the figures of one text."""

    quotes: dict[str, Draw] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()

    def texts(self) -> Iterator[str]:
        yield from self.quotes
        yield from self.facts
        yield from self.given


def prose(markdown: str) -> str:
    """``markdown`` without code and the targets of links, on one line."""
    return " ".join(NOT_READ.sub(" ` ", markdown).split())


def figures(text: str) -> list[Figure]:
    """The figures in ``text``, which is :func:`prose`."""
    found = [Figure(*m.span(), m[1], m[2]) for m in IN_WORDS.finditer(text)]
    for match in IN_DIGITS.finditer(text):
        for number in re.finditer(NUMBER, match[1]):
            start = match.start(1) + number.start()
            found.append(Figure(start, match.end(), number[0], match[2]))
    return sorted(found, key=lambda figure: figure.start)


def printed(figure: Figure, outputs: Iterable[str]) -> bool:
    """Whether one of ``outputs`` shows the figure: a number that rounds to it, with its kind of
    unit in the same line or, for a number of two digits or more, in a line above it."""
    kind, factor = UNITS[figure.unit]
    digits = len(re.sub(r"\D", "", figure.number).lstrip("0"))
    for output in outputs:
        above: set[float] = set()
        for line in output.splitlines():
            units = re.findall(rf"(?<![A-Za-z])({UNIT})(?![A-Za-z/])", line)
            beside = {UNITS[unit][1] for unit in units if UNITS[unit][0] == kind}
            above |= beside
            for number in re.findall(rf"(?<![\w.]){NUMBER}", line):
                value = float(number.replace(",", ""))
                factors = beside or (above if digits > 1 else set())
                if any(figure.stands_for(value * own / factor) for own in factors):
                    return True
    return False


def problems(text: str, outputs: Sequence[str], known: Quotes, file: str) -> list[str]:
    """Each figure of the prose ``text`` that nothing vouches for, and each entry that is not true.

    ``file`` is where entries belong, for the messages.
    """
    found = []
    spans: list[tuple[int, int]] = []
    every = figures(text)
    for quoted in known.texts():
        places = [match.span() for match in re.finditer(re.escape(quoted), text)]
        inside = [[f for f in every if a <= f.start and f.end <= b] for a, b in places]
        if not any(inside):
            found.append(f"{quoted!r} is not quoted any more: take it out of {file}")
        spans += places
        if quoted in known.quotes:
            drawn = known.quotes[quoted]()
            values = list(drawn) if isinstance(drawn, Sequence) else [drawn]
            for numbers in filter(None, inside):
                found += wrong(quoted, numbers, values, file)
    for figure in every:
        vouched = any(a <= figure.start and figure.end <= b for a, b in spans)
        if not vouched and not printed(figure, outputs):
            near = text[max(0, figure.start - 50) : figure.end + 30]
            found.append(
                f"{figure} in “…{near}…”: no output of the notebook shows it. Quote what a stored "
                f"output or record says, or add {text[figure.start : figure.end]!r} to {file}: to "
                "QUOTES with the function that draws it from a record, to FACTS with its source, "
                "or to GIVEN if the lesson sets it"
            )
    return found


def wrong(quoted: str, numbers: list[Figure], values: list[Drawn], file: str) -> list[str]:
    """Where the ``numbers`` of a quoted text differ from the ``values`` drawn for it."""
    if len(numbers) != len(values):
        return [f"{quoted!r} has {len(numbers)} figures, {file} draws {len(values)} for it"]
    found = []
    for figure, drawn in zip(numbers, values, strict=True):
        if isinstance(drawn, Bound):
            value, right = drawn.value, drawn.least <= figure.value <= drawn.most
        else:
            value, right = drawn, figure.stands_for(drawn)
        if not right:
            found.append(f"{quoted!r}: the records say {value:.4g}, not {figure.number}")
    return found
