"""The one look of every figure, and the settings that make its PNG the same on every run.

matplotlib is imported only when something is drawn: importing the course must stay quick.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..palettes import with_palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

STYLE_FILE = Path(__file__).with_name("course.mplstyle")

# Okabe and Ito's palette: distinct with every common kind of colour blindness.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW, BLACK = "#56B4E9", "#CC79A7", "#F0E442", "#000000"
PALETTE = (BLUE, ORANGE, GREEN, RED, SKY, PURPLE, YELLOW)
GREY, PALE = "#888888", "#EEEEEE"
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++")  # one for each colour
MARKERS = "osD^vP*X"

# matplotlib would write its version into the file.
PNG_METADATA = {"Software": None}

P = ParamSpec("P")
R = TypeVar("R")


def settings() -> dict[str, str]:
    """The style file as matplotlib's rc keys and values, read without importing matplotlib."""
    pairs = {}
    for line in STYLE_FILE.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, value = line.partition(":")
            pairs[key.strip()] = value.strip()
    return pairs


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Make ``draw`` work under the course's style, whatever the reader's own settings are."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        import matplotlib.style

        with matplotlib.style.context(["default", str(STYLE_FILE)]):
            return _settled(draw(*args, **kwargs))

    return wrapper


def _settled(drawn: R) -> R:
    """A figure laid out once and for all: constrained layout moves things at every drawing."""
    figure: Any = drawn
    if hasattr(figure, "draw_without_rendering"):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return drawn


def new(width: float, height: float, **grid: Any) -> tuple[Figure, Any]:
    """A figure of ``width`` × ``height`` inches that pyplot does not know, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(**grid)


@styled
def png(figure: Figure) -> bytes:
    """``figure`` as PNG at its own dpi. The same figure gives the same bytes every time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata=PNG_METADATA)
    return with_palette(buffer.getvalue())


def blend(colour: str, amount: float) -> tuple[float, float, float]:
    """``colour`` mixed with white: 1 leaves it as it is, 0 is white."""
    from matplotlib.colors import to_rgb

    return tuple(1 - amount * (1 - part) for part in to_rgb(colour))


def ink(colour: Any) -> str:
    """Black or white, whichever reads better on ``colour`` (relative luminance, WCAG 2)."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.179 else "black"


def bare(axes: Axes) -> None:
    """Take the frame and tick marks (not their labels) away."""
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def legend_below(figure: Figure, handles: Sequence[Patch], columns: int = 4) -> None:
    """A legend under the axes, where it hides nothing."""
    figure.legend(handles=handles, loc="outside lower center", ncols=min(columns, len(handles)))


def use_in_notebook(shell: Any) -> None:
    """Give the shell's figures, plain pyplot's included, the course's style and stable PNGs.

    Called once, when the package is imported in IPython.
    """
    from matplotlib_inline.config import InlineBackend

    backend = InlineBackend.instance(parent=shell)
    backend.rc = settings()
    backend.figure_formats = {"png"}
    backend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": dict(PNG_METADATA)}
    if "matplotlib.pyplot" in sys.modules:  # already set up with the settings it found then
        import matplotlib

        matplotlib.rcParams.update(settings())
        if backend.shell is not None:
            backend._update_figure_formatters()
    formatter = shell.display_formatter.formatters["image/png"]
    formatter.for_type_by_name("matplotlib.figure", "Figure", png)
