"""The figures draw what their data says, look the same on every run, and refuse what is no data."""

from __future__ import annotations

import io
import subprocess
import sys

import matplotlib.style
import numpy as np
import pytest
from PIL import Image

from course_utils import figures
from course_utils.figures.memory_accesses import bank_phases
from course_utils.figures.style import STYLE_FILE, settings
from course_utils.layouts import Layout, Swizzle, SwizzledLayout
from course_utils.observing.occupancy_calculator import Occupancy, Resources
from course_utils.palettes import with_palette

LANES = np.arange(32)
SWIZZLED = np.arange(8) ^ np.arange(8)[:, None]  # [row, chunk]: the chunk's place


def fragment_of_mma():
    """Who would hold what if lane n held row n // 2 of A, four elements of B, four of C."""
    return (
        np.arange(256).reshape(32, 8),
        np.arange(128).reshape(32, 4),
        np.arange(128).reshape(32, 4),
    )


def drawings() -> dict:
    """One small figure of every kind, as functions of nothing."""
    index = np.arange(40)
    row, column = np.mgrid[:4, :6]
    image = np.arange(24, dtype=np.uint8).reshape(4, 6)
    return {
        "thread_map of a line": lambda: figures.thread_map(index // 16, index % 16),
        "thread_map by warp": lambda: figures.thread_map(index // 64, index % 64, colour="warp"),
        "thread_map of a plane": lambda: figures.thread_map(
            (column // 3, row // 2), (column % 3, row % 2)
        ),
        "image_grid": lambda: figures.image_grid(np.stack([image] * 3), "abc", columns=2),
        "image_pair": lambda: figures.image_pair(image, 255 - image),
        "access_heatmap": lambda: figures.access_heatmap({"A": image, "B": image.T}),
        "warp_sectors": lambda: figures.warp_sectors(4 * LANES + 4),
        "shared_banks": lambda: figures.shared_banks(8 * LANES),
        "ladder": lambda: figures.ladder(["naive", "tiled"], [310, 2980], ("cuBLAS", 9000)),
        "roofline": lambda: figures.roofline(
            {"add": (1 / 12, 3e11), "dot": (0.25, None)}, 6e13, 4e12
        ),
        "timeline": lambda: figures.timeline(
            {"one": [("copy", "0", 0, 2), ("kernel", "0", 2, 3)], "two": [("kernel", "1", 0, 1)]}
        ),
        "fragments": lambda: figures.fragments(*fragment_of_mma()),
        "layout_map": lambda: figures.layout_map(
            {"nested": Layout("(4,(2,4)):(2,(1,8))"), "a row": Layout("8:2")}
        ),
        "layout_map by group": lambda: figures.layout_map(
            {"swizzled": SwizzledLayout(Swizzle(3, 0, 3), Layout("(8,8):(8,1)"))},
            group=lambda offset: offset % 8,
        ),
        "thread_values": lambda: figures.thread_values(
            {"results": (Layout("((4,8),(2,2)):((32,1),(16,8))"), (16, 8))}, thread=5
        ),
        "swizzle": lambda: figures.swizzle({"swizzled": SWIZZLED}),
        "number_formats": lambda: figures.number_formats({"fp16": (1, 5, 10), "int8": (1, 0, 7)}),
        "number_lines": lambda: figures.number_lines({"E2M1": [-6, 0, 0.5, 6], "int": [1, 2]}),
        "reduction_tree": lambda: figures.reduction_tree(
            {
                "pairs": (
                    [[1, 2, 3, 4], [3, 2, 7, 4], [10, 2, 7, 4]],
                    [[1, -1, 3, -1], [2, -1, -1, -1]],
                )
            }
        ),
        "look_backs": lambda: figures.look_backs([-1, 0, 0, 2], [1, 1, 2, 1]),
        "active_lanes": lambda: figures.active_lanes({"block": [[32, 16], [8, 0]]}),
        "word_fields": lambda: figures.word_fields(5 << 32 | 3, {"low": (0, 4), "high": (32, 8)}),
        "tensor_memory_areas": lambda: figures.tensor_memory_areas(
            {"even block": {"warp 0": (0, 32, 0, 64), "warp 1": (32, 32, 64, 64)}}
        ),
        "numbered_cells": lambda: figures.numbered_cells({"banks": (row, column)}, frame=2),
        "product_tiles": lambda: figures.product_tiles(image % 3, image.T % 3, np.eye(4) * 2),
        "access_orders": lambda: figures.access_orders(
            {"down": [(0, 0, True), (1, 0, True)], "along": [(0, 0, True), (0, 1, False)]},
            (2, 4),
            4,
        ),
        "software_stack": lambda: figures.software_stack(
            {"frameworks": {"JAX": "0.10", "MLX": None}, "machine": {"emulator": "NumPy"}}
        ),
        "lines_and_times": lambda: figures.lines_and_times(
            {"loop": (9, 8000.0), "NumPy": (4, 90.0)}, baseline=("library", 0.1)
        ),
        "memory_map": lambda: figures.memory_map(
            "heap block 0x2000 12 0\nstack x 0x7f10 4 0\nstack p 0x7f08 8 0x2004\n"
        ),
        "struct_bytes": lambda: figures.struct_bytes("a 8 x 0 1\na 8 y 4 4\nb 4 z 0 4\n"),
        "growth": lambda: figures.growth(
            {"GB/s": {"large": [(2007, 76.8, "C870"), (2011, 177, "M2090")]}}
        ),
        "value_graph": lambda: figures.value_graph(
            {"a": (2, 7), "b": (-3, 2), "c = a b": (-6, 1), "d = c + a": (-4, 1)},
            [
                ("a", "c = a b", -3),
                ("b", "c = a b", 2),
                ("c = a b", "d = c + a", 1),
                ("a", "d = c + a", 1),
            ],
            title="one use and another",
        ),  # fmt: skip
        "decision_regions": lambda: figures.decision_regions(
            {f"step {k}": 1 / (1 + np.exp(-(0.5 + k) * (column - row))) for k in range(4)},
            np.stack([column.ravel(), row.ravel()], 1),
            (column > row).ravel(),
            (-0.5, 5.5, -0.5, 3.5),
        ),
        "curves": lambda: figures.curves(
            {"L1": [(1024, 20), (4096, 20)], "HBM": [(1024, 300), (4096, 310)]},
            across="footprint",
            up="ns",
            levels={"FMA": 2},
            marks={"L1": 2048},
        ),
        "series": lambda: figures.series(
            {"ms": {"runs": [(k, 1 + k % 3) for k in range(50)], "medians": [(10, 2), (30, 1)]}},
            across="run",
            levels={"ms": 1.5},
        ),
        "memory_roofs": lambda: figures.memory_roofs(
            {"tiled": (9e12, {"L1": 0.5, "HBM": 40})}, 6e13, {"L1": 2.5e13, "HBM": 4e12}
        ),
        "instruction_kinds": lambda: figures.instruction_kinds({"a": {"mma": 3, "mov": 0}}),
        "stalls": lambda: figures.stalls({"naive": {"memory": 9, "pipe": 1}}, most=1),
        "waves": lambda: figures.waves([0, 1, 0], [0, 0, 2], [2, 2, 4], [0, 0, 1]),
        "block_timeline": lambda: figures.block_timeline(
            [0, 1, 0], [0, 0, 2], [2, 2, 4], blocks_each=1
        ),
        "build_files": lambda: figures.build_files(
            [("host", "you", "main.c", 100), ("device", "ptxas", "k.cubin", 4000)], title="A build"
        ),
        "activations": lambda: figures.activations(
            np.eye(28), {"conv1": np.arange(48.0).reshape(3, 4, 4)}, [0.2, 0.8]
        ),
        "reflection": lambda: figures.reflection((3, 4), [("to the axis", (-5, 0))]),
        "occupancy_steps": lambda: figures.occupancy_steps(
            Occupancy("k", "sm_90a", 96, 0, Resources(80), max_threads=512)
        ),
        "search_results": lambda: figures.search_results(
            {"8 x 8": [(90, 40), (110, 44)], "16 x 8": [(190, 50)]},
            {"spills": [128, 128], "threads": [64]},
            across="registers",
            levels={"cuBLAS": 51},
        ),
    }


@pytest.mark.parametrize("name", ["number_formats", "image_grid", "series"])  # text, image, lines
def test_drawing_the_same_data_twice_gives_the_same_bytes(name):
    """What makes it so is in one place, style.png; drawings.json holds what all drawings are."""
    draw = drawings()[name]
    first, again = figures.png(draw()), figures.png(draw())
    assert first == again
    assert again.startswith(b"\x89PNG") and b"Software" not in again


def test_a_figure_in_256_colours_is_small_and_keeps_them_nearly():
    figure, buffer = figures.warp_sectors(4 * LANES), io.BytesIO()
    with matplotlib.style.context(["default", str(STYLE_FILE)]):
        figure.savefig(buffer, format="png")
    whole = buffer.getvalue()
    assert len(with_palette(whole)) < len(whole) / 2
    assert np.abs(pixels(with_palette(whole)).astype(float) - pixels(whole)).mean() < 0.5


def test_a_picture_one_can_see_through_stays_as_it_is():
    clear = as_png(np.zeros((8, 8, 4), np.uint8))
    assert with_palette(clear) == clear


def as_png(colours):
    buffer = io.BytesIO()
    Image.fromarray(colours).save(buffer, "PNG")
    return buffer.getvalue()


def pixels(picture):
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def test_a_figure_can_be_written_twice():
    figure = figures.warp_sectors(4 * LANES)
    assert figures.png(figure) == figures.png(figure)


def test_a_figure_ignores_the_readers_own_matplotlib_settings():
    import matplotlib

    expected = figures.png(figures.warp_sectors(4 * LANES))
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "figure.dpi": 50}):
        assert figures.png(figures.warp_sectors(4 * LANES)) == expected


def test_drawing_leaves_pyplot_and_the_readers_settings_alone():
    import matplotlib
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams)
    figures.ladder(["naive"], [1.0])
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_importing_figures_does_not_import_matplotlib():
    code = "import sys, course_utils.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_style_read_by_hand_is_the_one_matplotlib_reads():
    import matplotlib
    import matplotlib.style

    with matplotlib.style.context(["default", str(STYLE_FILE)]):
        read = dict(matplotlib.rcParams)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings())
        for key in settings():
            assert matplotlib.rcParams[key] == read[key], key
    assert read["figure.dpi"] == 110


def title(figure) -> str:
    return figure.axes[0].get_title(loc="left")


@pytest.mark.parametrize(
    ("addresses", "width", "expected"),
    [
        (4 * LANES, 4, "4 sectors, 128 of 128 bytes used (100 %)"),
        (4 * LANES + 4, 4, "5 sectors, 128 of 160 bytes used (80 %)"),
        (128 * LANES, 4, "32 sectors, 128 of 1024 bytes used (12 %)"),
        (0 * LANES + 64, 4, "1 sector, 4 of 32 bytes used (12 %)"),
        (16 * LANES, 16, "16 sectors, 512 of 512 bytes used (100 %)"),
        (2 * LANES, 2, "2 sectors, 64 of 64 bytes used (100 %)"),
        (np.where(LANES < 8, 4 * LANES, -1), 4, "1 sector, 32 of 32 bytes used (100 %)"),
    ],
)
def test_warp_sectors_counts_distinct_sectors_and_bytes(addresses, width, expected):
    assert title(figures.warp_sectors(addresses, width)) == expected


def boxes(figure) -> list[tuple]:
    """(left, top, width, outline) of every rectangle that is drawn."""
    return [
        (box.get_x(), box.get_y(), box.get_width(), box.get_linewidth())
        for box in figure.axes[0].patches
    ]


def test_warp_sectors_draws_each_element_and_each_touched_sector_at_its_place():
    addresses = [4096 + 4, 4096 + 96, 4096 + 128 * 3 + 32]  # of three lanes, on two lines
    figure = figures.warp_sectors(addresses, 4)
    drawn = boxes(figure)
    assert [box[:2] for box in drawn if box[2] == 4] == [(4, 0), (96, 0), (32, 1)]
    assert {box[:2] for box in drawn if box[3] == 1.5} == {(0, 0), (96, 0), (32, 1)}
    assert {box[:2] for box in drawn if box[3] == 0} == {(0, 0), (96, 0), (32, 1)}  # hatched
    ticks = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert ticks == ["line +0 B", "line +384 B"]
    texts = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    assert texts == {"0": (6, 0.5), "1": (98, 0.5), "2": (34, 1.5)}


def test_a_roof_slopes_up_to_the_ridge_and_is_flat_behind_it():
    figure = figures.roofline(
        {"add": (0.25, 5e11), "dot": (0.5, None), "mm": (64, 3e13)}, 4e13, 4e12
    )
    roof, *others = figure.axes[0].lines
    x, y = roof.get_data()
    assert y.tolist() == [min(4e13, at * 4e12) for at in x] and y[0] < y[1] == y[2] == 4e13
    assert x[1] == 10
    assert roof.get_zorder() < max(line.get_zorder() for line in others)
    marks = [line.get_xydata().tolist() for line in others if len(line.get_xdata()) == 1]
    assert marks == [[[0.25, 5e11]], [[0.5, 2e12]], [[64, 3e13]]]
    told = [text.get_text() for text in figure.legends[0].texts]
    assert told == ["add: 50 % of the roof", "dot: not timed", "mm: 75 % of the roof"]


@pytest.mark.parametrize(
    ("addresses", "width", "expected"),
    [
        (4 * LANES, 4, "no bank conflict, 1 wavefront for 32 lanes"),
        (0 * LANES, 4, "no bank conflict, 1 wavefront for 32 lanes"),
        (8 * LANES, 4, "2-way bank conflict, 2 wavefronts for 32 lanes"),
        (128 * LANES, 4, "32-way bank conflict, 32 wavefronts for 32 lanes"),
        (132 * LANES, 4, "no bank conflict, 1 wavefront for 32 lanes"),
        (16 * LANES, 16, "no bank conflict, 4 wavefronts for 32 lanes, 8 lanes at a time"),
    ],
)
def test_shared_banks_counts_the_wavefronts(addresses, width, expected):
    assert title(figures.shared_banks(addresses, width)) == expected


def test_a_tower_of_wavefronts_is_cropped_and_counts_what_is_left_out():
    axes = figures.shared_banks(128 * LANES).axes[0]
    *lanes, left_out = [text.get_text() for text in axes.texts]
    assert lanes == [str(lane) for lane in range(8)]
    assert left_out == "… and 24 more wavefronts"
    assert axes.get_ylim() == (9, 0)


def test_wide_loads_of_neighbours_that_want_the_same_take_half_as_many_phases():
    """As measured: see ``wavefronts`` in emulator/recording/counters.py."""
    pairs, apart = 8 * (LANES // 2), 8 * LANES
    assert [len(bank_phases(lanes, 8)) for lanes in (pairs, apart)] == [1, 2]
    assert [len(bank_phases(lanes, 16)) for lanes in (2 * pairs, 2 * apart)] == [2, 4]
    assert len(bank_phases(pairs, 8, store=True)) == 2


def test_lanes_that_want_one_word_share_it():
    (phase,) = bank_phases([0, 0, 4, 128])
    assert phase == {0: {0: [0, 1], 32: [3]}, 1: {1: [2]}}


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_thread_map_labels_each_element_with_the_thread_that_wrote_it():
    assert texts(figures.thread_map(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))) == list("0101")


def test_thread_map_hatches_what_no_thread_wrote():
    figure = figures.thread_map(np.array([0, -1, 0]), np.array([0, -1, 2]))
    assert texts(figure) == ["0", "2"]
    assert [patch.get_hatch() for patch in figure.axes[0].patches] == ["///"]


def test_ladder_draws_the_best_rung_in_full_colour():
    from matplotlib.colors import to_hex

    figure = figures.ladder(["a", "b", "c"], [9, 3, 5], unit="sectors", smaller_is_better=True)
    bars = [to_hex(bar.get_facecolor()) for bar in figure.axes[0].patches]
    assert bars[1] == "#0072b2" and "#0072b2" not in (bars[0], bars[2])


@pytest.mark.parametrize("level", [0.01, 0.126, 0.3])
def test_the_words_at_a_ladders_line_stay_inside_the_axes(level):
    rungs = ["each thread for itself", "the block together"]
    figure = figures.ladder(rungs, [0.721, 0.458], ("a copy", level), unit="ms")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    (words,) = [text for text in axes.texts if text.get_text().startswith("a copy")]
    assert words.get_window_extent().x0 > axes.bbox.x0


def test_a_ladder_with_factors_says_them_and_ends_with_the_library_in_grey():
    axes = figures.ladder(["a", "b", "c"], [2, 5, 4], ("cuBLAS", 6), factors=True).axes[0]
    assert [text.get_text() for text in axes.texts] == ["2", "5   × 2.5", "4   × 0.8", "6"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c", "cuBLAS"]
    assert not axes.lines
    red, green, blue, _ = axes.patches[-1].get_facecolor()
    assert red == pytest.approx(green, abs=0.02) and green == pytest.approx(blue, abs=0.02)


@pytest.mark.parametrize("value", [47.9, 49.5, 50.9])
def test_no_label_of_a_ladder_touches_the_line_it_is_compared_with(value):
    figure = figures.ladder(["a", "b"], [value, 53], ("cuBLAS", 51), unit="TFLOP/s")
    axes = figure.axes[0]
    line = axes.transData.transform((51, 0))[0]
    for label in axes.texts[:2]:
        box = label.get_window_extent()
        assert not box.x0 < line < box.x1


def test_a_label_that_fits_neither_way_stands_past_the_line():
    figure = figures.ladder(["a", "b"], [1, 60], ("target", 2), unit="x")
    axes = figure.axes[0]
    assert axes.texts[0].get_window_extent().x0 > axes.transData.transform((2, 0))[0]


def test_a_search_rings_the_best_and_counts_what_was_ruled_out():
    figure = figures.search_results(
        {"a": [(1, 2), (2, 7)]}, {"spills": [3, 3]}, across="x", levels={"library": 8}
    )
    above, below = figure.axes
    assert "best: 7" in [text.get_text() for text in above.texts]
    assert [label.get_text() for label in below.get_yticklabels()] == ["spills (2)"]


def test_waves_are_called_what_they_are():
    figure = figures.waves([0, 0], [0, 1], [1, 2], [0, 1], names=("whole", "part"))
    assert [text.get_text() for text in figure.legends[0].texts] == ["whole", "part"]


def test_the_tiles_of_a_product_are_covered_by_as_few_rectangles_as_there_are_pieces():
    from course_utils.figures.tiles import rectangles

    mask = np.zeros((8, 8), bool)
    mask[:2, :2] = mask[4:6, 4:8] = True
    assert rectangles(mask) == [(0, 0, 2, 2), (4, 4, 2, 4)]


def test_a_timeline_of_a_ring_sorts_its_rows_by_kind_and_colours_them_alike():
    rows = "warp 0 waits", "full[1]", "empty[0]", "full[0]", "copy for full[0]", "stores"
    figure = figures.timeline(
        {"one": [(row, "", k, k + 1) for k, row in enumerate(rows)]}, ring=True
    )
    axes = figure.axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["copy for full[0]", "full[0]", "full[1]", "empty[0]", "warp 0 waits", "stores"]
    colours = {name: bar.get_facecolor() for name, bar in zip(rows, axes.patches, strict=True)}
    assert colours["full[0]"] == colours["full[1]"] and len(set(colours.values())) == 5
    key = [text.get_text().partition(":")[0] for text in figure.legends[0].get_texts()]
    assert key == ["copy by TMA", "full", "empty", "a warp waits", "others"]


def test_a_timeline_keeps_the_colour_of_a_row_in_every_panel():
    one, two = [("copy", "0", 0, 2), ("kernel", "0", 2, 3)], [("kernel", "1", 0, 1)]
    above, below = figures.timeline({"one": one, "two": two}).axes
    assert below.patches[0].get_facecolor() == above.patches[1].get_facecolor()
    assert above.patches[0].get_facecolor() != above.patches[1].get_facecolor()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.warp_sectors(range(0, 132, 4)), "a warp has 32 lanes; 33 addresses"),
        (lambda: figures.warp_sectors([2], 4), "lane 0 accesses 4 bytes at address 2"),
        (lambda: figures.warp_sectors([0], 3), "1, 2, 4, 8 or 16 bytes at once, not 3"),
        (lambda: figures.shared_banks([-1]), "no lane takes part"),
        (
            lambda: figures.thread_map(np.zeros(4), np.zeros(5)),
            r"shape \(4,\), threads one of \(5,\)",
        ),
        (lambda: figures.thread_map(np.zeros((2, 2, 2)), np.zeros(2)), r"blocks is \(n,\) or"),
        (lambda: figures.ladder(["a"], [1, 2]), "1 rungs and 2 values"),
        (lambda: figures.search_results({"a": []}, {}, across="x"), "no candidate was run"),
        (
            lambda: figures.product_tiles(np.zeros((4, 2)), np.zeros((2, 3)), np.zeros((3, 4))),
            r"C's \(3, 4\); they are",
        ),
        (lambda: figures.roofline({"a": (0, 1)}, 1, 1), "a has intensity 0"),
        (
            lambda: figures.numbered_cells({"banks": (np.eye(3, dtype=int), np.arange(3))}),
            r"groups of shape \(3,\)",
        ),
        (lambda: figures.word_fields(1 << 64, {}), "not a word of 64 bits"),
        (lambda: figures.word_fields(0, {"a": (0, 8), "b": (7, 2)}), "b: bits 7 to 8 are taken"),
        (lambda: figures.word_fields(0, {"a": (60, 5)}), "bits 60 to 64"),
        (lambda: figures.word_fields(1 << 32, {}, size=32), "not a word of 32 bits"),
        (
            lambda: figures.tensor_memory_areas({"a": {"sums": (0, 129, 0, 32)}}),
            "sums: lanes 0 to 128 and columns 0 to 31",
        ),
        (lambda: figures.tensor_memory_areas({}), "a panel has no areas"),
        (lambda: figures.number_lines({"E4M3": [np.nan]}), "E4M3: there is no finite number"),
        (lambda: figures.number_lines({"E4M3": [1]}, linear=0), "linear is 0"),
        (lambda: figures.image_pair(np.zeros(3), np.zeros(3)), r"before has shape \(3,\)"),
        (lambda: figures.timeline({"one": [("row", "0", 2, 1)]}), "row 0 ends at 1, before"),
        (lambda: figures.timeline({"one": []}), "a panel has none"),
        (lambda: figures.look_backs([-1, 1], [1, 1]), "tile 1 took the prefix of tile 1"),
        (lambda: figures.look_backs([-1, 0], [1]), "looks"),
        (lambda: figures.reduction_tree({"a": ([[1, 2]], [[1, -1]])}), "sources of one row less"),
        (lambda: figures.reduction_tree({"a": ([[1, 2]] * 2, [[2, -1]])}), "a source is above 1"),
        (lambda: figures.active_lanes({"a": [[33]]}), "numbers of lanes, from 0 to 32"),
        (lambda: figures.access_heatmap(np.zeros(3)), r"shape \(3,\); give \(rows, columns\)"),
        (lambda: figures.thread_map([0], [0], colour="grid"), 'or "warp", not .grid.'),
        (lambda: figures.thread_map([0], ([0], [1]), colour="warp"), "needs linear thread indices"),
        (lambda: figures.activations(np.eye(2), {"c": np.eye(2)}, [1]), r"c has shape \(2, 2\)"),
        (lambda: figures.roofline({}, 1, 0), "bandwidth=0 must both be positive"),
        (lambda: figures.memory_roofs({}, 1, {"L1": 0}), "every bandwidth must be positive"),
        (lambda: figures.memory_roofs({}, 0, {"L1": 1}), "the peak and every bandwidth"),
        (lambda: figures.curves({"a": [(1, 0)]}, across="x", up="y"), "a: give pairs"),
        (lambda: figures.layout_map({"a": Layout("4097:1")}), "4,097 cells; at most 4,096"),
        (lambda: figures.struct_bytes("a 8 x 0"), "a line is 'struct size member offset bytes'"),
        (
            lambda: figures.fragments(np.arange(9), *fragment_of_mma()[1:]),
            "what each of 32 lanes holds",
        ),
    ],
)
def test_data_that_cannot_be_drawn_is_refused_with_what_to_give(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_waves_draw_each_block_where_and_when_it_ran():
    axes = figures.waves([0, 1, 0], [0, 0, 2], [2, 3, 5], [0, 0, 1]).axes[0]
    boxes = sorted(
        (bar.get_y() + bar.get_height() / 2, bar.get_x(), bar.get_width()) for bar in axes.patches
    )
    assert boxes == [(0, 0, 2), (0, 2, 3), (1, 0, 3)]
    assert "ends at 5" in axes.get_xlabel()


@pytest.mark.parametrize(
    "places, starts, ends, wave",
    [([], [], [], []), ([0], [0, 1], [1], [0]), ([0], [2], [1], [0])],
)
def test_waves_refuse_what_is_no_schedule(places, starts, ends, wave):
    with pytest.raises(ValueError):
        figures.waves(places, starts, ends, wave)


def test_look_backs_show_the_prefix_and_the_aggregates_behind_it():
    """Tile 3 found the prefix of tile 1, and added the aggregate of tile 2."""
    left, right = figures.look_backs([-1, 0, 1, 1], [1, 1, 2, 5]).axes
    boxes = {(round(p.get_x(), 1), p.get_width()) for p in left.patches if p.get_y() + 0.5 > 2.5}
    assert boxes == {(1.5, 1), (0.5, 1), (2.5, 1)}
    assert [patch.get_width() for patch in right.patches] == [1, 1, 2, 5]


def test_a_reduction_tree_colours_only_what_reaches_the_result():
    from matplotlib.colors import to_hex

    values, everybody = [[1, 2, 3, 4], [3, 5, 7, 8]], [[1, 2, 3, 3]]
    axes = figures.reduction_tree({"to the left": (values, everybody)}).axes[0]
    edges = [to_hex(box.get_edgecolor()) for box in axes.patches]
    assert [edge == "#0072b2" for edge in edges] == [True, True, False, False] + [True] + 3 * [
        False
    ]


def test_a_reduction_tree_says_how_many_threads_add_in_each_step():
    sources = [[1, -1, 3, -1], [2, -1, -1, -1]]
    axes = figures.reduction_tree({"pairs": (np.zeros((3, 4), int), sources)}).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["at first", "step 1: 2 add", "step 2: 1 add"]


def test_a_warp_with_idle_lanes_is_hatched_and_one_that_skips_is_empty():
    axes = figures.active_lanes({"block": [[32, 5, 0]]}).axes[0]
    assert [box.get_hatch() for box in axes.patches] == [None, "///", None]
    assert [text.get_text() for text in axes.texts] == ["32", "5"]


def test_a_long_series_is_points_and_a_short_one_a_line_and_neither_begins_at_zero():
    long, short = [(k, 100 + k % 3) for k in range(50)], [(0, 100), (50, 101)]
    figure = figures.series({"ms": {"long": long, "short": short}, "W": {"w": short}}, across="s")
    upper, lower = figure.axes
    assert [line.get_linestyle() for line in upper.lines] == ["None", "--"]
    assert upper.get_ylim()[0] > 90 and lower.get_xlabel() == "s"


def test_a_series_of_nothing_is_refused():
    with pytest.raises(ValueError, match="clock: there are no pairs"):
        figures.series({"MHz": {"clock": []}}, across="s")


def test_growth_names_each_point_once_in_a_panel():
    points = [(2022, 1.0, "H100"), (2024, 2.0, "")]
    axes = figures.growth({"TFLOP/s": {"fp32": points, "fp16": points}}).axes[0]
    assert [text.get_text() for text in axes.texts] == ["H100"]


def test_a_name_has_one_mark_in_all_panels_of_growth():
    points = [(2022, 1.0, "")]
    figure = figures.growth({"TFLOP/s": {"a": points, "b": points}, "GB/s": {"b": points}})
    (_, upper), (lower,) = (axes.lines for axes in figure.axes)
    assert (upper.get_marker(), upper.get_color()) == (lower.get_marker(), lower.get_color())


def test_a_kernel_keeps_its_mark_from_one_roof_to_the_next():
    one = figures.roofline({"a": (1, 1e12), "b": (2, 1e12)}, 6e13, 4e12).axes[0]
    two = figures.roofline({"b": (2, 1e12)}, 6e13, 4e12, marks={"b": 1}).axes[0]
    three = figures.memory_roofs({"b": (1e12, {"L1": 2})}, 6e13, {"L1": 2e13}, marks={"b": 1})
    mark = {line.get_label(): line.get_marker() for line in one.lines}["b: 12 % of the roof"]
    assert mark in {line.get_marker() for line in two.lines}
    assert mark in {line.get_marker() for line in three.axes[0].lines}


def test_a_block_timeline_gives_each_block_of_an_sm_a_slot_and_a_wave():
    axes = figures.block_timeline([3, 3, 3], [0, 1, 5], [5, 6, 9], blocks_each=2).axes[0]
    rows = sorted((round(bar.get_y() + bar.get_height() / 2), bar.get_x()) for bar in axes.patches)
    assert rows == [(6, 0), (6, 5), (7, 1)]
    assert axes.get_ylabel() == "slot (2 on each SM)"


def test_growth_refuses_what_has_no_logarithm():
    with pytest.raises(ValueError, match="logarithmic"):
        figures.growth({"TFLOP/s": {"fp32": [(2022, 0.0, "")]}})


def test_stalls_put_the_small_reasons_together():
    parts = {"memory": 8.0, "barrier": 1.0, "pipe": 0.5, "branch": 0.5}
    axes = figures.stalls({"slow": parts, "fast": {"memory": 2.0}}, most=2).axes[0]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [8.0, 1.0, 1.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "kernels, most", [({}, 5), ({"a": {"memory": -1.0}}, 5), ({"a": {"m": 1}}, 9)]
)
def test_stalls_refuse_what_is_no_time(kernels, most):
    with pytest.raises(ValueError):
        figures.stalls(kernels, most=most)


def test_kinds_of_instructions_stand_side_by_side():
    axes = figures.instruction_kinds({"ours": {"mma": 3, "mov": 1}, "theirs": {"mma": 2}}).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [3, 1, 2, 0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["mma", "mov"]


@pytest.mark.parametrize("programs", [{}, {"a": {}}, {str(k): {"mma": 1} for k in range(8)}])
def test_kinds_of_instructions_refuse_what_cannot_be_drawn(programs):
    with pytest.raises(ValueError):
        figures.instruction_kinds(programs)


def test_a_walk_shows_each_read_and_how_many_lines_were_fetched():
    figure = figures.access_orders({"along": [(0, 0, True), (0, 1, False)]}, (2, 4), 4)
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "along: 2 reads, 1 line fetched"
    assert [text.get_text() for text in axes.texts] == ["0", "1"]


def test_a_walk_out_of_the_matrix_is_refused():
    with pytest.raises(ValueError, match="down: read 0 is at 2, 0, outside"):
        figures.access_orders({"down": [(2, 0, True)]}, (2, 4), 4)


def test_fragments_show_the_lane_of_each_element_and_the_order_of_one_lanes():
    a = figures.fragments(*fragment_of_mma(), lane=1).axes[2]
    assert [text.get_text() for text in a.texts][:18] == ["0"] * 8 + [*"01234567"] + ["2"] * 2


def test_fragments_refuse_what_is_held_twice():
    a, b, c = fragment_of_mma()
    with pytest.raises(ValueError, match="the elements of B are not held once each: 0 to 127"):
        figures.fragments(a, b * 0, c)


def test_chunks_are_drawn_at_their_places():
    (axes,) = figures.swizzle({"swizzled": SWIZZLED}, chunk=2).axes
    assert axes.get_title(loc="left") == "swizzled: chunk 2 of 8 rows in 8 different positions"
    places = [box.get_x() for box in axes.patches]
    assert places[8:16] == [1, 0, 3, 2, 5, 4, 7, 6]


def test_two_chunks_in_one_position_are_refused():
    with pytest.raises(ValueError, match="each position once"):
        figures.swizzle({"wrong": SWIZZLED | 1})


def test_three_swizzles_stand_two_side_by_side_and_the_last_place_stays_empty():
    axes = figures.swizzle(dict.fromkeys("abc", SWIZZLED)).axes
    assert [one.axison for one in axes] == [True, True, True, False]
    assert axes[0].get_position().y0 > axes[2].get_position().y1


def test_a_format_has_a_box_for_each_bit():
    axes = figures.number_formats({"bf16": (1, 8, 7), "int8": (1, 0, 7)}).axes[0]
    assert len(axes.patches) == 16 + 8
    assert [text.get_text() for text in axes.texts] == ["8", "7", "7"]


def test_a_number_has_a_mark_on_the_line_of_its_format_unless_it_is_infinite():
    axes = figures.number_lines({"E2M1": [-6, 0.5, 6], "half": [1, np.inf, np.nan]}).axes[0]
    marks = [line for line in axes.lines if line.get_marker() == "|"]
    assert [line.get_xdata().tolist() for line in marks] == [[-6, 0.5, 6], [1]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["E2M1", "half"]


def test_a_levels_name_goes_where_it_hides_no_curve():
    def place(*rows):
        """At which end, and on which side of the line, the name of the level 1 is."""
        lines = {str(y): [(1, y), (64, y)] for y in rows}
        (name,) = figures.curves(lines, across="n", up="ms", levels={"true": 1}).axes[0].texts
        return name.get_ha(), name.get_va()

    assert place(0.2, 9) == ("right", "baseline")
    assert place(1.05, 9) == ("right", "top")
    # A curve runs along the line's right half, on both sides, and leaves the left half free.
    bent = {
        "a": [(1, 9), (7, 9), (8, 1.05), (64, 1.05)],
        "b": [(1, 0.2), (7, 0.2), (8, 0.96), (64, 0.96)],
    }
    (name,) = figures.curves(bent, across="n", up="ms", levels={"true": 1}).axes[0].texts
    assert (name.get_ha(), name.get_va()) == ("left", "baseline")


def test_guides_of_curves_are_thin_lines_without_marks():
    pairs = [(16, 1e-4), (64, 2e-4)]
    figure = figures.curves({"fp32": pairs}, across="K", up="error", guides={"sqrt(K)": pairs})
    guide, curve = figure.axes[0].lines
    assert (guide.get_marker(), curve.get_marker()) == ("None", "o")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["sqrt(K)", "fp32"]


def test_labels_of_many_decades_are_their_powers_of_ten():
    wide = figures.curves({"a": [(1, 1e-7), (2, 1e-2)]}, across="K", up="error").axes[0]
    narrow = figures.curves({"a": [(1, 1), (2, 50)]}, across="K", up="ms").axes[0]
    assert all(np.log10(tick) == round(np.log10(tick)) for tick in wide.get_yticks())
    assert {2, 5, 20} <= set(narrow.get_yticks())


def test_a_stack_says_of_each_part_its_version_or_that_it_is_not_here():
    axes = figures.software_stack({"frameworks": {"JAX": "0.10", "MLX": None}}).axes[0]
    assert [text.get_text() for text in axes.texts] == ["JAX\n0.10", "MLX\nnot here"]
    here, absent = axes.patches
    assert not here.get_hatch() and absent.get_hatch()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["frameworks"]


def test_the_parts_of_a_layer_share_its_width():
    axes = figures.software_stack({"a": {"x": "1"}, "b": {"y": "1", "z": "2"}}).axes[0]
    one, *two = [bar.get_width() for bar in axes.patches]
    assert two[0] == two[1] and one > 1.9 * two[0]


def test_a_layer_without_parts_is_refused():
    with pytest.raises(ValueError, match="at least one part"):
        figures.software_stack({"frameworks": {}})


def test_lines_and_times_are_drawn_as_given_and_told_apart_by_machine():
    figure = figures.lines_and_times(
        {"loop": (9, 8000.0), "NumPy": (4, 90.0), "CUDA": (30, 0.25)},
        on={"loop": "CPU", "NumPy": "CPU", "CUDA": "GPU"},
        baseline=("library", 0.2),
    )
    left, right = figure.axes
    assert [bar.get_width() for bar in left.patches] == [9, 4, 30]
    assert [bar.get_width() for bar in right.patches] == [8000.0, 90.0, 0.25]
    assert right.get_xscale() == "log" and "library" in right.get_xlabel()
    assert [(text.get_text(), text.xy) for text in left.texts] == [
        ("9", (9, 0)),
        ("4", (4, 1)),
        ("30", (30, 2)),
    ]
    assert [(text.get_text(), text.xy) for text in right.texts] == [
        ("8\N{NO-BREAK SPACE}000 ms", (8000.0, 0)),
        ("90 ms", (90.0, 1)),
        ("0.25 ms", (0.25, 2)),
    ]
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["CPU", "GPU"]
    assert len({bar.get_hatch() for bar in right.patches}) == 2


def test_a_time_of_zero_is_refused():
    with pytest.raises(ValueError, match="positive time"):
        figures.lines_and_times({"loop": (9, 0.0)})


def graph_of_square():
    return {"a": (3.0, 6.0), "a a": (9.0, 1.0)}, [("a", "a a", 3.0), ("a", "a a", 3.0)]


def test_a_value_graph_writes_value_gradient_and_each_slope():
    texts = [text.get_text() for text in figures.value_graph(*graph_of_square()).axes[0].texts]
    assert "a\nvalue 3\ngradient 6" in texts and "a a\nvalue 9\ngradient 1" in texts
    assert texts.count("× 3") == 2


def test_a_gradient_that_is_not_known_is_left_out():
    figure = figures.value_graph({"a": (1.0, None)}, [])
    assert [text.get_text() for text in figure.axes[0].texts] == ["a\nvalue 1"]


def test_a_value_stands_right_of_all_that_it_was_made_of():
    names = "abcd"
    edges = [("a", "b", None), ("b", "c", None), ("a", "c", None), ("d", "c", None)]
    axes = figures.value_graph(dict.fromkeys(names, (0.0, None)), edges).axes[0]
    places = {text.get_text()[0]: text.get_position()[0] for text in axes.texts if text.get_text()}
    assert places["a"] < places["b"] < places["c"]
    assert places["d"] == places["b"]  # a leaf, just before its use


def test_graphs_that_run_in_a_circle_or_name_nothing_are_refused():
    values = {"a": (1.0, None), "b": (1.0, None)}
    with pytest.raises(ValueError, match="in a circle"):
        figures.value_graph(values, [("a", "b", None), ("b", "a", None)])
    with pytest.raises(ValueError, match="names no value"):
        figures.value_graph(values, [("a", "x", None)])


def test_decision_regions_show_each_map_its_boundary_and_the_points():
    from matplotlib.collections import PathCollection

    column = np.mgrid[:4, :6][1]
    maps = {"flat": np.full((4, 6), 0.3), "steep": column / 5}
    points, labels = np.array([[0.0, 0], [1, 1], [5, 3]]), np.array([0, 0, 1])
    figure = figures.decision_regions(maps, points, labels, (0, 5, 0, 3))
    flat, steep = figure.axes[:2]
    assert [len(axes.images) for axes in (flat, steep)] == [1, 1]
    assert np.array_equal(steep.images[0].get_array(), maps["steep"])
    marks = [c.get_offsets() for c in flat.collections if isinstance(c, PathCollection)]
    assert [len(found) for found in marks] == [2, 1]
    assert len(steep.collections) == len(flat.collections) + 1  # the boundary
    with pytest.raises(ValueError, match="probabilities"):
        figures.decision_regions({"x": np.full((2, 2), 1.2)}, points, labels, (0, 1, 0, 1))


def test_layout_maps_show_offsets_and_owners():
    nested = Layout("(4,(2,4)):(2,(1,8))")
    (axes,) = figures.layout_map({"nested": nested}).axes
    texts = {tuple(map(int, text.get_position())): text.get_text() for text in axes.texts}
    assert {(j, i): str(nested(i, j)) for i in range(4) for j in range(8)} == texts
    lines = sorted(line.get_xdata()[0] for line in axes.lines)
    assert lines == [1.5, 3.5, 5.5], "between the groups of columns"
    results = Layout("((4,8),(2,2)):((32,1),(16,8))")
    (axes,) = figures.thread_values({"results": (results, (16, 8))}).axes
    texts = {tuple(map(int, text.get_position())): text.get_text() for text in axes.texts}
    assert texts[2, 5] == "T21\nV0" and texts[1, 9] == "T4\nV3"


@pytest.mark.parametrize(
    "held, says",
    [
        ((Layout("(4,2):(1,4)"), (2, 2)), "beyond a tile"),
        ((Layout("(4,2):(1,2)"), (4, 4)), "two threads"),
        ((Layout("(4,2,2):(1,4,8)"), (4, 4)), "two"),
    ],
)
def test_thread_values_refuses_what_is_no_owner(held, says):
    with pytest.raises(ValueError, match=says):
        figures.thread_values({"wrong": held})
