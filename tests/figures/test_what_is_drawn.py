"""What every figure keeps to: cells side by side, words in them, nothing out of its frame."""

from __future__ import annotations

import json
from functools import cache
from inspect import signature
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.transforms import Bbox

from course_utils import figures
from course_utils.figures import style
from course_utils.figures.labels import bytes_label
from course_utils.figures.style import ink
from tests.figures.further_drawings import Profiled, further_drawings
from tests.figures.records_of_drawings import FILE, digests
from tests.figures.test_figures import drawings

SLACK = 2  # pixels
DRAWINGS = drawings() | further_drawings()
NAMES = sorted(DRAWINGS)
CELLS = (
    "access_orders",
    "active_lanes",
    "fragments",
    "reduction_tree",
    "shared_banks",
    "stalls",
    "swizzle",
    "timeline",
    "warp_sectors",
)
WORDS_BESIDE = "struct_bytes", "source_heat", "warp_steps"


@cache
def drawn(name):
    """The figure and its renderer."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = DRAWINGS[name]()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return figure, canvas.get_renderer()


def boxes(name):
    """For each axes: its own box, those of its patches, those of its words."""
    figure, renderer = drawn(name)
    for axes in figure.axes:
        patches = [patch.get_window_extent(renderer) for patch in axes.patches]
        if axes.get_xscale() == "log":  # where a bar begins at 0, and is drawn from the frame on
            patches = [Bbox([[max(b.x0, axes.bbox.x0), b.y0], b.max]) for b in patches]
        words = [text.get_window_extent(renderer) for text in axes.texts if text.get_text()]
        yield axes.bbox, patches, words


def common(a, b):
    """Width and height of what two boxes share."""
    return min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)


def inside(box, frame):
    return (
        box.x0 >= frame.x0 - SLACK
        and box.x1 <= frame.x1 + SLACK
        and box.y0 >= frame.y0 - SLACK
        and box.y1 <= frame.y1 + SLACK
    )


@pytest.mark.parametrize("name", [n for n in NAMES if n.split(",")[0] not in WORDS_BESIDE])
def test_nothing_is_drawn_out_of_its_frame(name):
    for frame, patches, words in boxes(name):
        assert all(inside(box, frame) for box in patches + words)


@pytest.mark.parametrize("name", NAMES)
def test_a_line_that_is_not_cut_at_its_frame_ends_there(name):
    for axes in drawn(name)[0].axes:
        for line in axes.lines:
            if not line.get_clip_on():
                assert inside(line.get_window_extent(), axes.bbox)


@pytest.mark.parametrize("name", NAMES)
def test_cells_lie_side_by_side_or_one_in_the_other(name):
    for _, patches, _ in boxes(name):
        for a, b in combinations(patches, 2):
            width, height = common(a, b)
            if width > SLACK and height > SLACK:
                smaller = min(a.width * a.height, b.width * b.height)
                assert width * height > 0.9 * smaller


@pytest.mark.parametrize("name", NAMES)
def test_no_words_lie_on_other_words(name):
    for _, _, words in boxes(name):
        for a, b in combinations(words, 2):
            assert min(common(a, b)) <= SLACK


@pytest.mark.parametrize("name", CELLS)
def test_words_in_the_middle_of_a_cell_are_in_its_middle(name):
    figure, renderer = drawn(name)
    found = 0
    for axes in figure.axes:
        cells = [patch.get_window_extent(renderer) for patch in axes.patches]
        middles = np.array([((b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2) for b in cells]).reshape(-1, 2)
        for text in axes.texts:
            if text.get_text() and text.get_ha() == text.get_va() == "center":
                place = axes.transData.transform(text.get_position())
                assert np.abs(middles - place).max(axis=1).min() < SLACK + 1, text.get_text()
                found += 1
    assert found


def luminance(colour):
    """Relative luminance as WCAG 2 has it."""
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


@pytest.mark.parametrize("name", CELLS)
def test_words_in_a_cell_stand_out_from_its_colour(name):
    figure, renderer = drawn(name)
    for axes in figure.axes:
        cells = [(cell.get_window_extent(renderer), cell.get_facecolor()) for cell in axes.patches]
        for text in axes.texts:
            place = axes.transData.transform(text.get_position())
            under = [face for box, face in cells if box.contains(*place) and face[3]]
            if text.get_text() and under:
                pair = luminance(text.get_color()), luminance(under[-1])
                assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5, text.get_text()


@pytest.mark.parametrize("name", NAMES)
def test_words_can_be_read_and_do_not_shout(name):
    figure, _ = drawn(name)
    from matplotlib.text import Text

    sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()}
    assert sizes and min(sizes) >= 7 and max(sizes) <= 11


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_fits_a_notebook_s_width_and_a_screen_s_height(name):
    figure, _ = drawn(name)
    width, height = figure.get_size_inches()
    assert 2 <= width <= 16 and 0.9 <= height <= 10


RECORDED = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_what_was_recorded_of_it(name):
    found, recorded = digests(drawn(name)[0]), RECORDED.get(name, {})
    changed = {kind for kind in found | recorded if found.get(kind) != recorded.get(kind)}
    assert not changed, (
        f"the {', '.join(sorted(changed))} of {name} are others than recorded: look at the figure, "
        "and where that is meant run `python -m tests.figures.records_of_drawings`"
    )


TITLED = {
    name for name in figures.__all__ if "title" in signature(getattr(figures, name)).parameters
}


def test_a_figure_that_takes_a_title_shows_it(monkeypatch):
    """Nothing is laid out for it: that is what takes time."""
    shown = set()
    monkeypatch.setattr(style, "_settled", lambda figure: figure)

    def titled(name, draw):
        def wrapper(*args, **kwargs):
            figure = draw(*args, **kwargs | {"title": "What it shows"})
            words = [*figure.texts, *(text for axes in figure.axes for text in titles(axes))]
            if any("What it shows" in text.get_text() for text in words):
                shown.add(name)
            return figure

        return wrapper

    for name in TITLED:
        monkeypatch.setattr(figures, name, titled(name, getattr(figures, name)))
    for draw in DRAWINGS.values():
        draw()
    assert shown == TITLED


def titles(axes):
    return axes.title, axes._left_title


def test_nothing_is_recorded_of_a_drawing_that_is_no_more():
    assert set(RECORDED) == set(NAMES)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_the_lines_of_a_walk_stand_where_cache_lines_begin():
    figure = figures.access_orders({"down": [(0, 0, True)]}, (2, 4), 4)
    thick = set()
    for lines in figure.axes[0].collections:
        for (x0, y0), (x1, y1) in lines.get_segments():
            if lines.get_linewidth()[0] > 2:
                assert x0 == x1
                thick.add((x0, min(y0, y1), max(y0, y1)))
    assert thick == {(0, 0, 1), (0, 1, 2), (4, 0, 1), (4, 1, 2)}


def test_a_cache_line_may_begin_in_the_middle_of_a_row():
    figure = figures.access_orders({"down": [(0, 0, True)]}, (3, 4), 6)
    thick = {
        (segment[0][0], segment[0][1])
        for lines in figure.axes[0].collections
        if lines.get_linewidth()[0] > 2
        for segment in lines.get_segments()
    }
    assert thick == {(0, 0), (2, 1), (4, 2)}


@pytest.mark.parametrize(("end", "whole"), [(3, True), (2.5, False)])
def test_a_timeline_of_whole_moments_has_whole_ticks(end, whole):
    axes = figures.timeline({"one": [("copy", "0", 0, 1), ("kernel", "0", 1, end)]}).axes[0]
    assert all(float(tick).is_integer() for tick in axes.get_xticks()) == whole


def test_a_timeline_writes_thousands_out():
    axes = figures.timeline({"one": [("copy", "0", 0, 1393)]}, unit="instructions").axes[0]
    assert axes.get_title("left") == "one: 1\N{NO-BREAK SPACE}393 instructions"


def test_a_timeline_ends_each_panel_where_its_last_span_ends():
    axes = figures.timeline({"one": [("copy", "0", 0, 2), ("kernel", "1", 1, 4)]}).axes[0]
    assert axes.get_title("left") == "one: 4 ms" and [*axes.lines[0].get_xdata()] == [4, 4]
    assert axes.get_xlim() == (0, pytest.approx(4 * 1.03))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["copy", "kernel"]
    spans = [(p.get_x(), p.get_width(), p.get_y() + p.get_height() / 2) for p in axes.patches]
    assert spans == [(0, 2, pytest.approx(0)), (1, 3, pytest.approx(1))]


def test_a_span_too_short_for_its_label_has_none():
    axes = figures.timeline(
        {"one": [("copy", "a long label", 0, 1), ("kernel", "b", 1, 100)]}
    ).axes[0]
    assert texts(axes) == ["b"]


def test_the_parts_of_a_bar_have_their_numbers_where_there_is_room():
    parts = {"memory": 9.0, "barrier": 0.01, "pipe": 4.0}
    axes = figures.stalls({"slow": parts, "fast": {"memory": 2.0}}, most=3).axes[0]
    found = [(text.get_text(), *text.get_position()) for text in axes.texts]
    assert found == [("9.0", 4.5, 0), ("4.0", 11.0, 0), ("2.0", 1.0, 1)]


def test_the_bars_of_a_ladder_end_at_their_numbers():
    axes = figures.ladder(["naive", "tiled"], [0.25, 0.75], unit="TB/s").axes[0]
    assert [bar.get_width() for bar in axes.patches] == [0.25, 0.75]
    assert axes.get_xlim() == (0, pytest.approx(0.75 * 1.12))
    assert axes.get_ylim() == (1.5, -0.5) and axes.get_xlabel() == "TB/s"
    axes = figures.ladder(["naive"], [2.0], 3.0, smaller_is_better=True).axes[0]
    assert axes.get_xlim() == (0, pytest.approx(3 * 1.12))
    assert axes.get_xlabel().endswith("(less is better)")


def test_the_words_of_a_roof_stand_on_it():
    axes = figures.roofline({"add": (1 / 12, 3e11)}, 6e13, 4e12).axes[0]
    places = {text.get_text(): text.xy for text in axes.texts}
    (x, y), (_, peak) = places["memory 4 TB/s"], places["peak 60 TFLOP/s"]
    assert y == pytest.approx(4e12 * x) and peak == 6e13
    assert places["15 FLOP/B"][0] == pytest.approx(15)


def test_each_line_of_source_has_a_row_with_its_number_and_its_count():
    axes = figures.source_heat(Profiled(L3=1200, L4=600)).axes[0]
    rows = {}
    for text in sorted(axes.texts, key=lambda text: text.get_position()[0]):
        rows.setdefault(text.get_position()[1], []).append(text.get_text())
    assert [rows[row] for row in sorted(rows)] == [
        ["1,200", "3", "    x = 1;"],
        ["600", "4", "y" * (len(rows[1.5][2]) - 1) + "…"],
        ["5", "}"],
    ]
    assert sorted(rows) == [0.5, 1.5, 2.5] and axes.get_ylim() == (3, 0)
    assert [(bar.get_x(), bar.get_y()) for bar in axes.patches] == [(0, 0), (0, 1)]
    light = [sum(bar.get_facecolor()[:3]) for bar in axes.patches]
    assert light[0] < light[1]  # what cost more is darker
    assert axes.get_title("left") == "f: global sectors by line, 1,800 in all"


def test_the_lines_of_source_to_draw_can_be_given():
    axes = figures.source_heat(Profiled(L3=1), lines=(1, 7), title="all of it").axes[0]
    assert axes.get_ylim() == (7, 0) and axes.get_title("left") == "all of it"
    assert {"1", "7", "void f()", "void g()"} <= {text.get_text() for text in axes.texts}
    with pytest.raises(ValueError, match="lines 1 to 7, not 0 to 2"):
        figures.source_heat(Profiled(L3=1), lines=(0, 2))
    with pytest.raises(ValueError, match="not 3 to 8"):
        figures.source_heat(Profiled(L3=1), lines=(3, 8))


@pytest.mark.parametrize(
    ("value", "words"),
    [(2**31, "2 GB"), (2**30, "1 GB"), (3 * 2**20, "3 MB"), (1536, "1.5 KB"), (512, "512 B")],
)
def test_bytes_are_written_in_powers_of_two(value, words):
    assert bytes_label(value) == words


FRAMES = {
    "thread_map of a plane": ((-0.05, 6.05), (4.05, -0.05)),
    "warp_sectors": ((-0.5, 128.5), None),
    "shared_banks": ((0, 32), (2, 0)),
    "active_lanes": ((0, 2), (2, 0)),
    "stalls": (None, (0.5, -0.5)),
    "waves": (None, (1.5, -0.5)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_as_large_as_what_it_holds(name):
    axes = drawn(name)[0].axes[0]
    for found, wanted in zip((axes.get_xlim(), axes.get_ylim()), FRAMES[name], strict=True):
        assert wanted is None or found == pytest.approx(wanted)


def ticks(axis):
    labels = [label.get_text() for label in axis.get_ticklabels()]
    return list(zip(axis.get_ticklocs().tolist(), labels, strict=True))


def test_each_step_has_its_name_in_the_middle_of_its_row():
    axes = drawn("active_lanes")[0].axes[0]
    assert ticks(axes.yaxis) == [(0.5, "step 1: 2 warps"), (1.5, "step 2: 1 warp")]
    assert ticks(axes.xaxis) == [(0.5, "0"), (1.5, "1")]


def test_each_wavefront_and_each_fourth_row_of_a_fragment_has_its_number():
    assert ticks(drawn("shared_banks")[0].axes[0].yaxis) == [(0.5, "1"), (1.5, "2")]
    assert ticks(drawn("fragments")[0].axes[1].yaxis) == [
        (row + 0.5, str(row)) for row in range(0, 16, 4)
    ]


def test_a_step_of_a_tree_shows_the_numbers_of_those_who_took_part():
    axes = drawn("reduction_tree")[0].axes[0]
    assert sorted(texts(axes)) == ["1", "10", "2", "3", "3", "4", "7"]


def test_a_read_that_fetches_a_line_is_hatched():
    axes = drawn("access_orders")[0].axes[1]  # along: the second read finds the line there
    assert [bool(cell.get_hatch()) for cell in axes.patches] == [True, False]


def test_thick_lines_part_the_blocks_of_a_map():
    axes = drawn("thread_map of a plane")[0].axes[0]
    thin, thick = (lines.get_segments() for lines in axes.collections[:2])
    places = {tuple(map(tuple, np.asarray(segment).astype(int))) for segment in thick}
    assert thin and ((3, 0), (3, 1)) in places
    assert ((0, 2), (1, 2)) in places and ((0, 1), (1, 1)) not in places


def test_a_tile_has_a_tick_at_each_quarter_of_a_long_side_and_at_the_ends_of_a_short_one():
    figure = figures.product_tiles(np.zeros((64, 8)), np.zeros((8, 128)), np.zeros((64, 128)))
    found = {
        axes.get_title("left"): (axes.get_xticks().tolist(), axes.get_yticks().tolist())
        for axes in figure.axes
        if axes.get_title("left")
    }
    quarters = [0, 16, 32, 48, 64], [0, 32, 64, 96, 128]
    assert found == {
        "A, 64 × 8": ([0, 8], quarters[0]),
        "B, 8 × 128": (quarters[1], [0, 8]),
        "C, 64 × 128": (quarters[1], quarters[0]),
    }
    whole = figures.product_tiles(np.zeros((16, 15)), np.zeros((15, 16)), np.zeros((16, 16)))
    assert [axes.get_yticks().tolist() for axes in whole.axes if axes.get_title("left")] == [
        [0, 15],
        [0, 4, 8, 12, 16],
        [0, 4, 8, 12, 16],
    ]


def test_the_last_row_of_a_folded_map_has_no_cells_where_the_array_ends():
    axes = figures.thread_map(np.zeros(10, int), np.arange(10), per_row=4).axes[0]
    ends = {
        tuple(int(x) for x in point)
        for lines in axes.collections
        for segment in lines.get_segments()
        for point in segment
    }
    assert (4, 2) in ends and (2, 3) in ends and (3, 3) not in ends and (4, 3) not in ends


def test_a_line_of_an_included_file_goes_by_that_file_s_name():
    step = SimpleNamespace(file="/somewhere/common/reduce.cuh", line=7, active=np.ones(32, bool))
    trace = SimpleNamespace(
        steps=[step], filename="sum.cu", warp=0, block_index=(0, 0, 0), complete=True
    )
    labels = [tick.get_text() for tick in figures.warp_steps(trace).axes[0].get_yticklabels()]
    assert labels == ["(reduce.cuh:7)    ?"]


@pytest.mark.parametrize(
    ("colour", "words"),
    [("#757575", "white"), ("#767676", "black"), ("red", "black"), ("blue", "white")]
    + [("#008000", "white"), ("#009000", "black"), ("white", "black"), ("black", "white")],
)
def test_words_on_a_colour_are_black_or_white_as_their_contrast_is_greater(colour, words):
    assert ink(colour) == words


def test_arrays_side_by_side_get_the_width_that_their_cells_need():
    numbers = np.arange(6).reshape(2, 3)
    one, three = (
        figures.numbered_cells(dict.fromkeys(names, (numbers, numbers))).get_figwidth()
        for names in ("a", "abc")
    )
    assert three == pytest.approx(3 * one)


def test_a_pair_of_images_says_how_large_each_is_and_is_as_high_as_they_need():
    image = np.arange(24, dtype=np.uint8).reshape(4, 6)
    figure = figures.image_pair(image, image)
    assert figure.axes[0].get_xlabel() == "4 rows × 6 columns"
    assert figure.get_figheight() == pytest.approx(4 * 4 / 6 + 0.7)
    assert figures.image_pair(image.T.repeat(3, 0), image).get_figheight() == 8
    with pytest.raises(ValueError, match=r"after has shape \(5, 3, 2\)"):
        figures.image_pair(image, np.zeros((5, 3, 2)))


def test_a_grid_of_images_has_a_title_for_each_and_one_scale_for_all():
    images = np.arange(5 * 2 * 3, dtype=np.float32).reshape(5, 2, 3)
    figure = figures.image_grid(images, "abcde", columns=3)
    assert [axes.get_title() for axes in figure.axes] == [*"abcde", ""]
    assert {axes.images[0].get_clim() for axes in figure.axes[:5]} == {(0, 29)}
    assert not figure.axes[5].images
    for wrong in (images[0], images[:0]):
        with pytest.raises(ValueError, match="give"):
            figures.image_grid(wrong, "a" * len(wrong))
    with pytest.raises(ValueError, match="4 titles"):
        figures.image_grid(images, "abcd")


def test_cells_of_two_groups_have_two_colours():
    axes = drawn("numbered_cells")[0].axes[0]
    colours = axes.images[0].cmap(axes.images[0].norm(np.arange(6)))
    assert len({tuple(colour) for colour in colours}) > 1


def test_a_word_is_drawn_bit_by_bit_with_the_value_of_each_field():
    figure = figures.word_fields(5 << 33 | 3, {"low": (0, 4), "high": (33, 8)})
    texts = figure.axes[0].texts
    digits = "".join(text.get_text() for text in texts if text.get_fontsize() == 9)
    assert int(digits[::-1], 2) == 5 << 33 | 3
    assert [text.get_text() for text in figure.legends[0].texts] == ["low: 3", "high: 5"]


def test_a_word_of_32_bits_takes_one_line():
    figure = figures.word_fields(1 << 31, {"top": (31, 1)}, size=32)
    texts = [text for text in figure.axes[0].texts if text.get_fontsize() == 9]
    assert len(texts) == 32 and len({text.get_position()[1] for text in texts}) == 1


def test_tensor_memory_is_drawn_area_by_area():
    panels = {"even": {"sums": (0, 128, 32, 64)}, "odd": {"sums": (0, 64, 0, 32)}}
    even, odd = figures.tensor_memory_areas(panels).axes
    for axes, box in ((even, (32, 0, 64, 128)), (odd, (0, 0, 32, 64))):
        (drawn,) = axes.patches
        assert (*drawn.get_xy(), drawn.get_width(), drawn.get_height()) == box
        assert axes.texts[0].get_text() == "sums"


def test_a_reflection_shows_vector_image_and_mirror_at_a_right_angle():
    axes = figures.reflection((3, 4), [("to the axis", (-5, 0)), ("the other", (5, 0))]).axes
    assert [each.get_title("left") for each in axes] == ["to the axis", "the other"]
    for panel, end in zip(axes, ((-5, 0), (5, 0)), strict=True):
        lines = {line.get_label(): line.get_xydata() for line in panel.lines}
        assert lines["x"][1].tolist() == [3, 4] and lines["H x"][1].tolist() == [*end]
        mirror = lines["mirror"][1] - lines["mirror"][0]
        assert abs(mirror @ (lines["x"][1] - lines["H x"][1])) < 1e-9
    with pytest.raises(ValueError, match="no mirror"):
        figures.reflection((3, 4), [("itself", (3, 4))])
