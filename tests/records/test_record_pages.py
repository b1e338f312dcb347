"""The committed pages of records are what their command draws."""

import re

from course_utils.benchmarks.cases import CASES
from course_utils.paths import README, ROOT
from course_utils.records.axes import AXES, with_axes
from course_utils.records.measured_files import REFERENCE, measurements
from course_utils.records.record_pages import (
    HEADLINES,
    MARKS,
    PAGE,
    TASKS,
    page,
    tasks_page,
    with_headlines,
)

TEXT = README.read_text(encoding="utf-8")
CHAPTERS_OF = {case.name: case.chapter for case in CASES}


def test_the_readme_shows_records_as_they_are():
    assert with_headlines(TEXT, measurements("kernels", REFERENCE)) == TEXT


def test_the_page_of_all_tasks_is_drawn_from_the_records_and_linked():
    drawn = tasks_page(measurements("kernels", REFERENCE), CHAPTERS_OF)
    assert drawn == TASKS.read_text(encoding="utf-8")
    assert f"]({TASKS.relative_to(ROOT)})" in TEXT


def test_the_readme_has_wins_and_losses():
    rows = with_headlines(TEXT, measurements("kernels", REFERENCE)).partition(MARKS[0])[2]
    speedups = [float(found) for found in re.findall(r"\| (\d+\.\d+)×(?:<br>\d+\.\d+×)? \|", rows)]
    assert len(speedups) == len(HEADLINES)
    assert sum(s > 1 for s in speedups) >= 2 <= sum(s < 1 for s in speedups)


def test_of_sizes_with_as_many_bytes_the_one_with_more_work_is_entered():
    content = measurements("kernels", REFERENCE)
    flash = [r for r in content["records"] if r["kernel"] == "flash_pipeline"]
    assert len({r["bytes"] for r in flash}) == 1 < len({r["flops"] for r in flash})
    most = max(flash, key=lambda record: record["flops"])
    for records in (flash, flash[::-1]):
        (row,) = [x for x in tasks_page({**content, "records": records}, CHAPTERS_OF).splitlines()
                  if "<br>flash_<wbr>pipeline |" in x]  # fmt: skip
        assert with_axes(most["what"], most["size"]) in row


def test_of_one_size_the_faster_kernel_is_entered_if_it_has_fewer_operations_too():
    content = measurements("kernels", REFERENCE)
    filters = [r for r in content["records"] if r["what"] == "filter over an image, fp32"]
    entered = tasks_page({**content, "records": filters}, CHAPTERS_OF)
    assert "filter_<wbr>fft_<wbr>2d" in entered and "filter_<wbr>window" not in entered


def test_every_number_of_a_size_has_a_name():
    """with_axes raises where a task has none, or another count of them."""
    for case in CASES:
        for size in case.gpu_sizes:
            assert with_axes(case.what, size)
    assert AXES.keys() <= {case.what for case in CASES}


def test_a_size_reads_as_words():
    one = with_axes("attention, fp32", (1, 16, 4096))
    assert one == "1 sequence × 16 heads × 4,096 tokens"
    few = with_axes("grouped GEMM, bf16", (512, 64, 2048, 1024, 0))
    assert few == "512 rows × 64 experts × N 2,048 × K 1,024, even"
    assert with_axes("QR of many matrices, fp32", (1, 8, 4)) == "1 matrix × 8 rows × 4 columns"
    assert with_axes("GEMM, fp32", 8192) == "8,192"


def test_the_page_of_all_records_is_drawn_from_them_and_linked():
    assert page(measurements("kernels", REFERENCE)) == PAGE.read_text(encoding="utf-8")
    assert f"]({PAGE.relative_to(ROOT)})" in TEXT
