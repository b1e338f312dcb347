"""The files of measurements: those of two GPUs side by side, and what they say of their sources."""

import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from course_utils import hardware, measurements, stored
from course_utils.benchmarks import CASES, bench_command
from course_utils.benchmarks.tools.producers import PRODUCERS, Producer, stale
from course_utils.devices import properties
from course_utils.errors import LessonError
from course_utils.paths import README, ROOT
from course_utils.records import kernel_records, measured_files, record_pages, sources
from course_utils.records.measured_files import REFERENCE, file_of

OTHER = "NVIDIA H100 80GB HBM3"


def record(kernel, size, milliseconds, measured="2027-01-01T00:00", what="sum", source="old"):
    return {
        "kernel": kernel,
        "what": what,
        "size": size,
        "bytes": 10**9,
        "flops": 10**6,
        "ours": {"median_ms": milliseconds, "spread": 0.002, "runs": 40},
        "baseline": {"name": "library", "median_ms": 2.0},
        "libraries": {"library": 2.0, "other": 4.0},
        "ratio": 2.0 / milliseconds,
        "sustained": None,
        "roofline_fraction": 0.25,
        "source": source,
        "measured": measured,
    }


# --- what is on disk ---


def test_measurements_go_to_a_file_named_after_their_kind_and_their_device(folder):
    content = {"device": OTHER, "times": [1, 2], "rows": [["a, [1]", 2.5], []], "n": {}}
    file = measured_files.write("overlap", content)
    assert file == folder / "overlap" / "nvidia_h100_80gb_hbm3.json"
    assert measurements("overlap", OTHER) == content
    assert '"times": [1, 2]' in file.read_text() and '["a, [1]", 2.5]' in file.read_text()


def test_no_record_moves_bytes_faster_than_a_large_read():
    """Ours and the libraries': a rate above it would mean bytes that were not moved, or a clock
    that missed some of the time. A copy is slower than a read, so a kernel that reads more than it
    writes may pass a copy's rate."""
    content = measurements("kernels", REFERENCE)
    most = content["read_bytes_per_second"]
    for each in content["records"]:
        times = {"ours": each["ours"]["median_ms"], **each["libraries"]}
        for name, milliseconds in times.items():
            rate = each["bytes"] / milliseconds * 1e3
            assert rate <= most, f"{each['kernel']} at {each['size']}, {name}: {rate / 1e12} TB/s"


def test_a_file_names_its_device_driver_cuda_date_and_sources():
    content = measured_files.with_origin({"n": 1}, {"a.cu": "0"})
    assert list(content) == ["device", "driver", "cuda", "date", "sources", "n"]


def test_merging_keeps_the_newer_record_of_a_kernel_and_size():
    old = [record("a", 1, 5.0, "2027-01-02T00:00"), record("b", 1, 5.0)]
    new = [record("a", 1, 4.0, "2027-01-01T00:00"), record("b", 1, 4.0, "2027-01-03T00:00")]
    merged = kernel_records.merged(old, new, {"a": [1], "b": [1]})
    assert [r["ours"]["median_ms"] for r in merged] == [5.0, 4.0]


def test_merging_keeps_the_order_of_the_cases_and_drops_what_is_no_case_any_more():
    records = [record(kernel, size, 1.0) for kernel in ("gone", "b", "a") for size in (1, [2, 3])]
    merged = kernel_records.merged(records, [], {"a": (1, (2, 3)), "b": (1,)})
    assert [(r["kernel"], r["size"]) for r in merged] == [("a", 1), ("a", [2, 3]), ("b", 1)]


# --- the files of two devices ---


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of measurements."""
    monkeypatch.setattr(measured_files, "BENCHMARKS", tmp_path / "benchmarks")
    return tmp_path / "benchmarks"


def test_of_a_gpus_ceilings_the_larger_stay(folder):
    for copy, read in ((4.3e12, 4.5e12), (4.2e12, 4.6e12)):
        rates = {"copy_bytes_per_second": copy, "read_bytes_per_second": read}
        kernel_records.write_merged({"device": OTHER, **rates, "records": []}, {})
    found = measurements("kernels", OTHER)
    assert (found["copy_bytes_per_second"], found["read_bytes_per_second"]) == (4.3e12, 4.6e12)


@pytest.fixture
def two_devices(folder):
    """Files of every name for the reference GPU and for another one, which is twice as slow."""
    for device, slower in ((REFERENCE, 1), (OTHER, 2)):
        for name in ("hardware", "autotune"):
            measured_files.write(name, {"device": device, "traffic": slower})
        records = [record("a", [2, 3], 4.0 * slower, what="transpose, fp32")]
        records += [record("b", 4, 1.0, what="scan")] * (device == REFERENCE)
        measured_files.write("kernels", {"device": device, "records": records})


@pytest.fixture
def at(monkeypatch):
    """A function that lets this machine have the GPU of that name, or none."""

    def choose(gpu):
        monkeypatch.setattr(measured_files, "own_gpu", lambda: gpu)
        monkeypatch.setattr(bench_command, "own_gpu", lambda: gpu)

    return choose


READERS = {
    "hardware.measured": lambda: hardware.measured("traffic")[1],
    "measurements": lambda: measurements("hardware")["device"],
    "stored": lambda: stored(["a"], (2, 3))[2],
    "stored_times": lambda: kernel_records.stored_times(["a"], (2, 3))[1],
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("gpu", "expected"),
    [(None, REFERENCE), (OTHER, OTHER), ("Tesla T4", REFERENCE)],
)
def test_a_reader_gets_the_own_gpu_s_figures_or_else_the_reference_s(
    two_devices, at, reader, gpu, expected
):
    at(gpu)
    assert reader() == expected


def test_the_reference_can_be_shown_beside_the_own_gpu(two_devices, at):
    at(OTHER)
    assert measurements("hardware", REFERENCE)["device"] == REFERENCE
    assert stored(["a"], (2, 3), "bytes", REFERENCE)[0] == {"a": 250.0}
    assert stored(["a"], (2, 3), "bytes")[0] == {"a": 125.0}


def test_a_kernel_that_the_own_gpu_has_not_measured_comes_from_the_reference(two_devices, at):
    at(OTHER)
    assert stored(["b"], 4)[2] == REFERENCE


@pytest.mark.parametrize("what, ours, theirs", [("bytes", 250.0, 500.0), ("flops", 0.25, 0.5)])
def test_stored_gives_rates_in_giga_a_second(two_devices, at, what, ours, theirs):
    at(None)
    assert stored(["a"], (2, 3), what) == (
        {"a": ours},
        ("library", theirs),
        REFERENCE,
    )


def test_what_was_not_measured_is_named_with_the_command_that_measures_it(two_devices, at):
    at(OTHER)
    with pytest.raises(LessonError, match=r"c at size 4 is not in nvidia_h200.json: .* bench"):
        stored(["b", "c"], 4)
    with pytest.raises(LessonError, match="no measurements called triton .* --only triton"):
        measurements("triton")


def test_a_run_that_is_stopped_keeps_what_it_has_measured(folder, monkeypatch):
    case = next(case for case in CASES if case.name == "vec_add")
    measured = iter([record("vec_add", size, 1.0) for size in case.gpu_sizes[:1]])

    def measure(case, n, bandwidth):
        for found in measured:
            return found
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_command, "measure", measure)
    monkeypatch.setattr(bench_command, "ceilings", lambda: {"copy": 4e12, "read": 4e12})
    monkeypatch.setattr(bench_command, "device_name", lambda: OTHER)
    monkeypatch.setattr(bench_command, "description", lambda: {"device": OTHER})
    monkeypatch.setattr(bench_command, "_print", lambda record, size: None)
    monkeypatch.setattr(bench_command, "cp", Mock())
    with pytest.raises(KeyboardInterrupt):
        bench_command._run_gpu([(case, size) for size in case.gpu_sizes])
    assert [r["kernel"] for r in measurements("kernels", OTHER)["records"]] == ["vec_add"]


# --- the pages ---


@pytest.fixture
def readme(tmp_path, monkeypatch):
    file = tmp_path / "README.md"
    file.write_text("before\n" + "".join(record_pages.MARKS) + "\nafter")
    monkeypatch.setattr(record_pages, "README", file)
    monkeypatch.setattr(record_pages, "ROOT", tmp_path)
    monkeypatch.setattr(record_pages, "TASKS", tmp_path / "tasks.md")
    monkeypatch.setattr(record_pages, "PAGE", tmp_path / "page.md")
    return file


def bench(*words):
    """The exit status of ``python -m course_utils bench WORDS``."""
    import argparse

    parser = argparse.ArgumentParser()
    bench_command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["bench", *words])
    return args.func(args)


SECONDS = {
    "seconds": 3.0,
    "ours_ms": 1.5,
    "ours_mhz": 1700,
    "ours_watts": 690,
    "library_ms": 1.8,
    "ratio": 1.2,
}


def tasks(*records):
    """The page of tasks, from kernels of which some are of a chapter 05."""
    content = {"device": "X", "records": list(records)}
    chapters = {"a": "04_a", "b": "05_b", "sgemm_stream_k": "06_c"}
    return record_pages.tasks_page(content, defaultdict(lambda: "07_d", chapters))


def test_the_table_has_one_row_for_a_task_with_the_fastest_of_our_kernels():
    task = "transpose, fp32"
    drawn = tasks(*(record(name, [2, 3], ms, what=task) for name, ms in (("slow", 2), ("fast", 1))))
    row = "| transpose, fp32: 2 rows × 3 columns<br>fast | 2.00× | 1 ms ours<br>2 ms library |"
    assert drawn.count(row) == 1
    assert "<br>slow |" not in drawn


def test_fastest_is_who_is_furthest_ahead_of_the_library_of_its_own_run():
    warmer = record("ahead", 5, 1.1) | {"ratio": 2.1}
    drawn = tasks(record("cooler", 5, 1.0), warmer)
    assert "ahead" in drawn and "cooler" not in drawn


def test_the_table_shows_the_largest_size_that_was_measured_beside_a_library():
    alone = record("b", 9, 1.0) | {"bytes": 9 * 10**9, "baseline": None}
    drawn = tasks(record("a", 2, 1.0) | {"bytes": 10}, record("b", 5, 4.0), alone)
    assert "| sum: 5<br>b | 0.50× | 4 ms ours" in drawn and drawn.count("| sum: ") == 1


def test_the_table_shows_the_burst_beside_what_is_left_of_it_for_seconds():
    drawn = tasks(record("a", 5, 1.0) | {"sustained": SECONDS})
    assert "| 2.00×<br>1.20× |" in drawn


def test_a_task_is_in_the_chapter_of_its_fastest_kernel():
    drawn = tasks(record("b", 5, 1.0), record("a", 5, 1.0, what="scan"))
    headings = ["## 04_a", "| scan: 5<br>a |", "## 05_b", "| sum: 5<br>b |"]
    assert sorted(headings, key=drawn.index) == headings


def test_tasks_are_won_lost_or_level():
    speedups = {"won": 1.03, "level": 1.02, "level too": 0.98, "lost": 0.97, "lost too": 0.5}
    drawn = tasks(*(record("a", 5, 1.0, what=what) | {"ratio": r} for what, r in speedups.items()))
    assert "in 1 of 5 tasks, is within 2 % of it in 2 and slower in 2." in drawn


def test_a_lead_that_is_gone_for_seconds_counts_as_level():
    for_seconds = record("a", 5, 1.0) | {"ratio": 1.04, "sustained": SECONDS | {"ratio": 0.99}}
    assert "in 0 of 1 tasks, is within 2 % of it in 1" in tasks(for_seconds)


def test_the_last_rungs_show_their_range_over_all_sizes():
    drawn = tasks(
        record("sgemm_stream_k", 512, 1.0) | {"ratio": 0.9},
        record("sgemm_stream_k", 1024, 4.0) | {"ratio": 1.1, "sustained": SECONDS},
    )
    row = "| sgemm_<wbr>stream_<wbr>k<br>sum | 512 to 1,024 | 0.90 to 1.10× | 1.20× |"
    assert row in drawn.partition("## From the smallest size")[2]


def test_the_page_has_every_kernel_at_every_size_with_each_library():
    records = [record("a", 5, 1.0), record("c", 7, 1.0, what="scan"), record("b", 5, 4.0)]
    drawn = record_pages.page({"device": "X", "records": records})
    assert drawn.index("## Sum") < drawn.index("| b | 5 |") < drawn.index("## Scan")
    assert "| a | 5 | 1 ms | 0.2 % | 1 | 0.001 | 0.25 | library 2.00, other 4.00 |" in drawn
    assert "back to back" not in drawn


def test_the_page_shows_clock_and_power_where_they_are_known():
    records = [record("a", 5, 1.0) | {"sustained": SECONDS}]
    drawn = record_pages.page({"device": "X", "records": records})
    row = "| a | 5 | 1.5 ms | 1,700 MHz | 690 W | library | 1.8 ms |  |  | 1.200× |"
    assert row in drawn.partition("back to back")[2]


def test_a_record_of_no_case_and_a_kernel_of_no_record_are_refused(
    two_devices, readme, monkeypatch
):
    text = readme.read_text()
    monkeypatch.setattr(record_pages, "BY_SIZE", ("a", "c"))
    with pytest.raises(LessonError, match="has records of b, and no benchmark case"):
        record_pages.draw({"a": "04_a"})
    with pytest.raises(LessonError, match="record_pages.py names c, and no record"):
        record_pages.draw({"a": "04_a", "b": "04_a"})
    assert readme.read_text() == text and not record_pages.TASKS.exists()


@pytest.mark.parametrize("gpu", [None, OTHER])
def test_the_pages_are_drawn_from_the_reference_alone(two_devices, at, readme, monkeypatch, gpu):
    at(gpu)
    monkeypatch.setattr(record_pages, "HEADLINES", ("transpose, fp32",))
    monkeypatch.setattr(record_pages, "BY_SIZE", ())
    cases = [SimpleNamespace(name=name, chapter="04_a") for name in "ab"]
    monkeypatch.setattr(bench_command, "CASES", cases)
    monkeypatch.setattr(bench_command.ladders, "draw", lambda: None)  # test_ladders.py has them
    assert bench("--draw") == 0
    text = readme.read_text()
    assert f"On one {REFERENCE}," in text and OTHER not in text
    assert "| transpose, fp32 | 0.50× | 4 ms ours<br>2 ms library |" in text and text.endswith(
        "after"
    )
    assert "<br>a | 0.50× | 4 ms ours" in record_pages.TASKS.read_text()
    page = record_pages.PAGE.read_text()
    assert "A size is rows × columns." in page and "| a | 2 × 3 | 4 ms |" in page


def test_a_gpu_that_measures_writes_its_own_file_and_no_other_and_not_the_readme(
    two_devices, at, readme, tmp_path
):
    at(OTHER)
    before = (
        readme.read_text(),
        file_of("kernels", REFERENCE).read_text(),
    )
    newer = record("vec_add", 1 << 20, 3.0, "2027-01-01T00:00")
    (tmp_path / "copy.json").write_text(json.dumps({"device": OTHER, "records": [newer]}))
    assert bench("--merge", str(tmp_path / "copy.json")) == 0
    assert measurements("kernels")["records"] == [newer]
    assert (
        readme.read_text(),
        file_of("kernels", REFERENCE).read_text(),
    ) == before


# --- the hash of a source ---

KERNEL = """// what it does
#include "shared/help.cuh"
#include <cuda_fp16.h>
__global__ void f(float *x) { x[0] = 1.0f; }
"""


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A folder of kernels with one that includes a header, which includes another."""
    from course_utils.compiling import includes

    for module in (sources, includes):
        monkeypatch.setattr(module, "KERNELS", tmp_path)
    (tmp_path / "shared").mkdir()
    (tmp_path / "f.cu").write_text(KERNEL)
    (tmp_path / "shared/help.cuh").write_text('#include "more.cuh"\nint help;\n')
    (tmp_path / "shared/more.cuh").write_text("int more;\n")
    return tmp_path


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("f.cu", "1.0f", "2.0f"),
        ("f.cu", "<cuda_fp16.h>", "<cuda_bf16.h>"),
        ("shared/help.cuh", "int help", "long help"),
        ("shared/more.cuh", "more;", "more; // not a comment alone\nint less;"),
    ],
)
def test_the_hash_changes_with_the_code_of_a_kernel_and_of_its_headers(kernels, file, old, new):
    before = sources.source_hash("f.cu")
    (kernels / file).write_text((kernels / file).read_text().replace(old, new))
    assert sources.source_hash("f.cu") != before


@pytest.mark.parametrize(
    "old, new",
    [
        ("// what it does\n", "/* something\n else */\n\n\n"),
        ("{ x[0]", "{   /* stored */ x[0]"),
        ('"shared/help.cuh"', '"../shared/help.cuh"'),
    ],
)
def test_the_hash_stays_with_other_comments_blank_lines_and_places(kernels, old, new):
    before = sources.source_hash("f.cu")
    (kernels / "topic").mkdir()
    (kernels / "topic/g.cu").write_text(KERNEL.replace(old, new))
    assert sources.source_hash("topic/g.cu") == before


def test_a_python_source_is_hashed_without_its_comments(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "KERNELS", tmp_path)
    texts = "x = 7 // 2  # floor\n", "# above\nx = 7 // 2\n", "x = 7 // 3\n"
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.py").write_text(text)
    one, same, other = (sources.source_hash(f"{number}.py") for number in range(3))
    assert one == same != other


def test_every_case_of_other_files_has_another_hash():
    hashes = {case.files: case.source_hash for case in CASES}
    assert len(set(hashes.values())) == len(hashes)


# --- what comes with the course ---

OUTDATED = {  # by the name of the file: what the records themselves say was measured before
    name: stale(name, today(), REFERENCE)
    for name, today in {
        "kernels": lambda: {case.name: case.source_hash for case in CASES},
        **{producer.name: producer.sources for producer in PRODUCERS},
    }.items()
}


# Those that wait for the next run on the GPU: a line each, the file's name and the source's. A new
# producer, which has no file yet, waits by its name alone.
WAITING = Path(__file__).with_name("waiting_for_gpu.txt").read_text().splitlines()


@pytest.mark.parametrize("name", measured_files.names())
def test_what_comes_with_the_course_was_measured_with_the_sources_as_they_are(name):
    waiting = [line.partition(" ")[2] for line in WAITING if line.partition(" ")[0] == name]
    outdated = sorted(set(OUTDATED[name]) - set(waiting))
    assert not outdated, (
        f"{', '.join(outdated)} changed since; on the GPU: python -m course_utils bench --stale"
    )
    assert set(waiting) <= set(OUTDATED[name]), f"measured again: take out of {WAITING}"


def test_what_is_outdated_is_named_by_the_command(monkeypatch, capsys, at):
    at(None)
    monkeypatch.setattr(bench_command, "ON_GPU", False)  # with one, the command measures it instead
    assert bench("--stale") == 0
    text = capsys.readouterr().out
    assert all(name in text for name in OUTDATED["kernels"])
    assert bool(any(OUTDATED.values())) == ("bench --stale" in text)


@pytest.mark.parametrize("stale_only", [[], ["--stale"]])
def test_a_word_that_names_no_benchmark_is_refused(capsys, stale_only):
    assert bench(*stale_only, "--only", "vec_add", "nonsense") == 2
    expected = "No benchmark is called nonsense; --list names them all.\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("name", ["hardware", "sgemm_autotuned"])
def test_what_only_a_gpu_can_measure_is_refused_on_the_emulator(capsys, name):
    assert bench("--device", "emulator", "--only", name) == 2
    text = capsys.readouterr().out
    assert f"To measure {name} you need an NVIDIA GPU" in text and "kernel  " not in text


def test_a_file_that_cannot_be_merged_is_refused_with_what_to_give(tmp_path):
    with pytest.raises(LessonError, match="No such file.*\n.*kernels/nvidia_h200.json"):
        bench("--merge", str(tmp_path / "none.json"))
    file = tmp_path / "copy.json"
    for text, problem in (
        ("{", "not JSON"),
        ("[]", "no device"),
        ('{"device": "X"}', "no records"),
    ):
        file.write_text(text)
        with pytest.raises(LessonError, match=problem):
            bench("--merge", str(file))


def test_a_changed_source_makes_its_records_stale(folder):
    records = [record("a", 1, 1.0, source="1"), record("b", 1, 1.0, source="2")]
    measured_files.write("kernels", {"device": OTHER, "records": records})
    measured_files.write("triton", {"device": OTHER, "sources": {"a.cu": "1"}})
    assert stale("kernels", {"a": "1", "b": "3", "c": "4"}, OTHER) == ["b"]
    assert stale("triton", {"a.cu": "1"}, OTHER) == []
    assert stale("triton", {"a.cu": "1", "new.cu": "1"}, OTHER) == ["new.cu"]
    assert stale("overlap", {"a.cu": "1"}, OTHER) == []


def test_every_file_has_a_producer_and_every_producer_a_file(capsys):
    assert bench("--list") == 0
    named = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    waiting = [line for line in WAITING if " " not in line]
    assert sorted(set(named) - {"kernels:"}) == sorted({*measured_files.names(), *waiting})
    assert not set(waiting) & set(measured_files.names()), f"measured: take out of {WAITING}"
    for name in measured_files.names():
        assert file_of(name, REFERENCE).is_file()


def test_a_producer_writes_its_file_with_the_hashes_of_its_sources(folder, monkeypatch):
    monkeypatch.setattr("course_utils.benchmarks.tools.producers.need_gpu", lambda: None)
    producer = Producer("overlap", "", lambda: {"ms": 1.5}, lambda: {"a.cu": "1"})
    content = json.loads(producer.write().read_text())
    assert content["ms"] == 1.5 and content["sources"] == {"a.cu": "1"}
    assert content["device"] == properties.device_name()


def test_without_a_gpu_no_producer_writes(monkeypatch):
    monkeypatch.setattr(properties, "ON_GPU", False)
    with pytest.raises(LessonError, match="this machine has none"):
        PRODUCERS[0].write()


def test_no_record_names_a_place_outside_the_repository():
    for file in Path(ROOT / "assets/benchmarks").rglob("*.json"):
        assert str(ROOT) not in file.read_text()


def test_the_readme_of_the_course_has_the_marks():
    text = README.read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in record_pages.MARKS)
