"""The page of ``step`` in a browser: moved by buttons, keys, slider and clicks."""

from functools import cache

import pytest

from course_utils import load, step
from course_utils.devices import emulated_cupy as cp
from course_utils.stepping.states import ENDED, OFF, READY, RUNS, WAITS, state_after

TREE = r"""extern "C" __global__ void tree(const int *x, int *y)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (threadIdx.x < d) {
            s[threadIdx.x] += s[threadIdx.x + d];
        }
        __syncthreads();
    }
    *y = s[0];
}"""
RACE = TREE.replace("    __syncthreads();\n    for", "    for")


# A copy that an mbarrier counts, and a column that eight lanes read out of one bank.
COPIED = r"""#include "ptx.cuh"
#include "tma.cuh"
extern "C" __global__ void tree(const int *x, int *y)
{
    __shared__ __align__(16) int s[64];
    __shared__ unsigned long long full;
    const unsigned bar = shared_address(&full), to = shared_address(s);
    if (threadIdx.x == 0) {
        mbarrier_init(bar, 1);
        mbarriers_are_ready();
        mbarrier_expect(bar, 256);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 256, [%2];" ::"r"(to), "l"(x), "r"(bar) : "memory");
    }
    __syncthreads();
    mbarrier_wait(bar, 0);
    y[0] = s[threadIdx.x % 2 * 32];
}"""


@cache
def steps_of(source):
    if source is COPIED:
        arguments = cp.arange(64, dtype=cp.int32), cp.zeros(1, cp.int32)
        return step(load(source=source, filename="copied.cu"), 1, 64, arguments)
    kernel = cp.RawKernel(source, "tree")
    return step(kernel, 1, 64, (cp.arange(64, dtype=cp.int32), cp.zeros(1, cp.int32)))


@cache
def page_of(source):
    return steps_of(source)._repr_html_()


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens a source's page in a frame, as a notebook shows it. Gives the frame, the page that it
    is on, and a list of what went wrong."""
    pages = []

    def open_page(source, **options):
        file = tmp_path / f"{len(pages)}.html"
        file.write_text(page_of(source))
        page = chromium.new_page(**options)
        pages.append(page)
        problems = []
        page.on("pageerror", lambda error: problems.append(error))
        page.on("request", lambda r: None if r.url.startswith("file:") else problems.append(r.url))
        page.goto(file.as_uri())
        frame = page.query_selector("iframe").content_frame()
        frame.wait_for_selector(".code li.here")
        return frame, page, problems

    yield open_page
    for page in pages:
        page.close()


def line(frame):
    return int(frame.inner_text(".code li.here b"))


def test_keys_buttons_and_the_slider_move_the_same_step(opened):
    frame, page, problems = opened(TREE)
    assert line(frame) == 1 and frame.inner_text("output").startswith("1 of ")
    frame.focus("input")
    page.keyboard.press("ArrowRight")
    assert line(frame) == 4
    frame.click("[data-go=barrier]")
    assert line(frame) == 5
    assert frame.locator(".pane.threads .wait").count() == 64
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert line(frame) in (12, 13)
    page.keyboard.press("Home")
    assert frame.inner_text("output").startswith("1 of ")
    frame.evaluate(
        "const slider = document.querySelector('input');"
        "slider.value = 2, slider.dispatchEvent(new Event('input'))"
    )
    assert frame.inner_text("output").startswith("3 of ")
    frame.click(".code li:nth-child(8)")
    assert line(frame) == 8 and "32 of 64 threads" in frame.inner_text(".said")
    frame.click(".code li:nth-child(8)")  # its next execution
    assert "16 of 64 threads" in frame.inner_text(".said")
    assert (
        frame.locator(".pane.threads .run").count()
        == 16
        == frame.locator(".pane.threads .off").count()
    )
    assert frame.locator(".pane.values .write").count() == 16
    assert not problems


def test_the_frame_is_as_high_as_its_page_whatever_its_width_was(opened):
    frame, page, problems = opened(TREE)
    height = "document.querySelector('iframe').clientHeight"
    before = page.evaluate(height)
    for width in (200, 1280):
        page.set_viewport_size({"width": width, "height": 700})
        page.wait_for_timeout(300)
        frame.evaluate("dispatchEvent(new Event('resize'))")
    assert abs(page.evaluate(height) - before) < 20 and not problems


def test_it_plays_until_it_is_stopped(opened):
    frame, page, problems = opened(TREE)
    frame.click("[data-go=play]")
    frame.wait_for_function("now >= 2", timeout=20_000)
    page.keyboard.press("ArrowLeft")
    stopped = frame.evaluate("now")
    page.wait_for_timeout(900)
    assert frame.evaluate("now") == stopped and not problems


def test_space_plays_whatever_has_the_focus_and_enter_presses_a_button(opened):
    frame, page, problems = opened(TREE)
    for button in ("[data-go=next]", "[data-go=end]"):
        frame.evaluate("() => { play(false); show(0); }")
        frame.focus(button)
        page.keyboard.press(" ")
        assert frame.evaluate("[now, timer !== null]") == [0, True]
        page.keyboard.press(" ")
        assert frame.evaluate("timer === null")
    page.keyboard.press("Enter")
    assert frame.evaluate("now === D.steps.length - 1") and not problems


@pytest.mark.parametrize(("width", "rows"), [(390, 8), (1000, 16), (1600, 32)])
def test_rows_of_elements_line_up_with_warps(opened, width, rows):
    frame, _, problems = opened(TREE, viewport={"width": width, "height": 900})
    tops = "row => row.map(cell => Math.round(cell.getBoundingClientRect().top))"
    tops = frame.evaluate(f"boxes.map({tops})")
    counts = [[row.count(top) for top in sorted(set(row))] for row in tops]
    assert counts[0] == [rows] * (64 // rows)  # of x, whose values have two digits
    assert all(count[0] in (1, 8, 16, 32) for count in counts)
    fits = "all('.elements span').every(cell => cell.scrollWidth <= cell.clientWidth)"
    assert frame.evaluate("n => { show(n); return 1; }", 99) and frame.evaluate(fits)
    assert not problems


@pytest.mark.parametrize(("source", "flights"), [(TREE, 0), (COPIED, 1)])
def test_a_legend_says_what_a_look_means(opened, source, flights):
    frame, _, problems = opened(source, viewport={"width": 390, "height": 900})
    said = frame.inner_text(".legend")
    assert all(word in said for word in ("runs", "waits", "ended", "read", "written"))
    assert ("in flight" in said) == bool(flights)
    look = "name => getComputedStyle(part(name)).backgroundImage"
    frame.click("[data-go=barrier]")
    if not flights:
        sample, real = (frame.evaluate(look, f"{at} .wait") for at in (".legend", ".pane.threads"))
        assert sample == real != "none"
    for sample in frame.query_selector_all(".legend li:not([hidden]) [aria-hidden]"):
        assert sample.bounding_box()["width"] < 18
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth") and not problems


def test_values_are_those_of_the_step_in_both_directions(opened):
    frame, _, problems = opened(TREE)
    there = "n => { show(n); return all('.pane.values span').map(cell => cell.textContent); }"
    last = frame.evaluate("D.steps.length - 1")
    seen = [frame.evaluate(there, n) for n in range(last + 1)]
    assert [frame.evaluate(there, n) for n in reversed(range(last + 1))] == seen[::-1]
    assert str(sum(range(64))) in seen[-1] and "·" in seen[0] and not problems


@pytest.mark.parametrize("source", [TREE, RACE, COPIED])
def test_the_picture_is_drawn_from_the_states_that_the_page_shows(opened, source):
    frame, page, problems = opened(source)
    steps = steps_of(source)
    names = {"run": RUNS, "off": OFF, "wait": WAITS, "ended": ENDED, "": READY}
    for n in range(len(steps.steps)):
        state = state_after(steps, n)
        kinds = frame.evaluate("n => { show(n); return cells.map(cell => cell.className); }", n)
        assert [names[kind] for kind in kinds] == state.threads
        assert frame.evaluate("n => at(n).values", n) == state.values
        flying = frame.evaluate("n => at(n).flight.map(f => [...f])", n)
        assert [set(elements) for elements in flying] == state.in_flight
        phases = frame.evaluate("n => at(n).phases", n)
        assert [known and tuple(known) for known in phases] == state.barriers
    assert not problems


def test_the_picture_is_seen_only_where_the_frame_is_not(opened):
    _, page, problems = opened(TREE)
    assert not page.is_visible("img")
    page.set_content(page.query_selector("img").evaluate("it => (it.style = '', it.outerHTML)"))
    assert page.is_visible("img") and page.evaluate("document.images[0].naturalWidth") > 500
    assert not problems


def test_a_copy_a_phase_and_a_bank_conflict_are_said(opened):
    frame, _, problems = opened(COPIED)
    steps = steps_of(COPIED)
    landing = next(n for n, each in enumerate(steps.steps) if not each.lanes)
    assert (
        frame.evaluate("n => { show(n - 1); return all('.pane .flight').length; }", landing) == 64
    )
    said = frame.evaluate("n => { show(n); return part('.said').textContent; }", landing)
    assert "Phase 0 of full is complete." in said and "s[0 to 63]" in said
    assert frame.inner_text(".mbarriers .changed >> nth=0") == "phase 1"
    last = max(n for n, each in enumerate(steps.steps) if each.reaches)
    said = frame.evaluate("n => { show(n); return part('.said').textContent; }", last)
    assert "4 wavefronts instead of 2" in said and not problems


HALF = TREE.replace(
    "    __syncthreads();\n    for", "    if (threadIdx.x < 40) __syncthreads();\n    for"
)


def test_a_warp_is_marked_where_its_threads_are_that_have_not_ended(opened):
    source = HALF[: HALF.index("    for")] + "}"
    frame, _, problems = opened(source)
    steps = steps_of(source).steps
    ends = next(n for n, each in enumerate(steps) if each.ended)
    assert len(steps[ends].lanes) == 24  # the other 8 of their warp have yet to reach the barrier
    at = steps_of(source).source.splitlines().index("    if (threadIdx.x < 40) __syncthreads();")
    marks = "([n, at]) => { show(n); return code.children[at].querySelector('i').textContent; }"
    assert frame.evaluate(marks, [ends, at]) == "all warps" and not problems


def test_a_barrier_that_not_all_reach_is_not_said_to_have_all_its_threads(opened):
    source = HALF[: HALF.index("    for")] + "}"
    frame, _, problems = opened(source)
    recorded = steps_of(source)
    there = "n => { show(n); return part('.said').textContent; }"
    first, last = (n for n, each in enumerate(recorded.steps) if each.waits)
    assert "32 threads wait at the barrier." in frame.evaluate(there, first)
    said = frame.evaluate(there, last)
    assert frame.locator(".pane.threads .wait").count() == 40
    assert "8 more threads wait at the barrier: 40 wait now. 40 threads can go on." in said
    assert "All have arrived" not in said
    assert [n for _, n in recorded.faults[0].moments] == [last] and recorded.faults[0].barrier
    assert said.endswith(f"Here: {recorded.faults[0].headline}") and not problems


def test_a_barrier_that_all_reach_has_all_its_threads(opened):
    frame, _, problems = opened(TREE)
    frame.click("[data-go=barrier]")
    said = frame.inner_text(".said")
    assert said.endswith("64 threads wait at the barrier. All have arrived, and they go on.")
    assert not problems


# Both accesses of the first race are in one line of one warp.
SHIFT = """extern "C" __global__ void tree(int *x, int *y)
{
    x[threadIdx.x] = x[threadIdx.x + 1 & 63];
}"""


def test_two_accesses_of_one_step_have_one_button(opened):
    frame, _, problems = opened(SHIFT)
    for n, fault in enumerate(steps_of(SHIFT).faults):
        places = {step for _, step in fault.moments}
        buttons = frame.locator(f".faults div:nth-child({n + 1}) button")
        assert buttons.count() == len(places)
        if len(places) == 1 < len(fault.moments):
            assert buttons.all_inner_texts() == ["both accesses"]
    assert any(len({step for _, step in fault.moments}) == 1 for fault in steps_of(SHIFT).faults)
    assert not problems


def test_a_screen_reader_finds_a_heading_a_main_part_and_lines_that_are_buttons(opened):
    frame, page, problems = opened(TREE)
    assert frame.inner_text("main h1") == "Steps of tree" == frame.title()
    assert frame.locator(".code > li[role]").count() == 0
    frame.focus(".code li:nth-child(8) [role=button]")
    page.keyboard.press("Enter")
    assert line(frame) == 8 and not problems


def test_an_element_below_the_pane_is_brought_into_view(opened):
    source = TREE.replace("s[64]", "s[640]").replace("*y = s[0]", "s[639] = 1; *y = s[639]")
    frame, _, problems = opened(source)
    steps = steps_of(source)
    n = next(n for n, each in enumerate(steps.steps) if any(e == 639 for _, e, _ in each.changes))
    inside = "n => { show(n); const pane = part('.pane.values').getBoundingClientRect(); return "
    inside += (
        "all('.pane.values .write').some(c => c.getBoundingClientRect().bottom <= pane.bottom); }"
    )
    assert frame.evaluate(inside, n)
    assert frame.evaluate(
        "() => { part('.pane.values').scrollTop = 0; show(now, false); return 1; }"
    )
    assert frame.evaluate("() => part('.pane.values').scrollTop") == 0 and not problems


def test_a_race_opens_at_its_second_moment_and_leads_to_the_first(opened):
    frame, _, problems = opened(RACE)
    assert line(frame) == 7 and "Data race" in frame.inner_text(".said")
    frame.click(".faults button >> nth=0")
    assert line(frame) in (4, 7) and not problems


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_it_fits_its_window_and_follows_the_theme(opened, screenshots, width, scheme):
    frame, page, problems = opened(
        RACE, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ink, paper = (
        frame.evaluate(f"getComputedStyle(document.body).{name}").removeprefix("rgb(").split(",")[0]
        for name in ("color", "backgroundColor")
    )
    assert (int(ink) < int(paper)) == (scheme == "light")
    page.screenshot(path=screenshots / f"steps_{width}_{scheme}.png", full_page=True)
    assert not problems
