"""Every kernel file is launched by a test: right at odd sizes, and clean under every check."""

import re

import pytest
from launchers import (
    FILES,
    PART,
    Demonstration,
    described,
    in_turn,
    measured,
    run,
    sanitized_call,
    trials,
)

from course_utils.benchmarks import CASES
from course_utils.devices.selection import ON_GPU
from course_utils.paths import KERNELS, NO_KERNELS, is_solution
from tests import turns

FUSED = "09_mnist_cnn/fast/"  # the kernels of one step, which takes seconds to make at each size


def mark(file, place, number):
    """Of the sizes that are described for a kernel, each turn has one at least and a third of many.
    A kernel that takes the compiler longest has all of them in one turn of three."""
    if PART is None and file in turns.GROUP_OF:
        out = turns.of_another_turn(file)
        return pytest.mark.another_turn if out else pytest.mark.this_turn
    return turns.in_turn(place + number, 1 if PART else len(trials(file)))


TRIALS = [
    pytest.param(trial, id=str(trial), marks=mark(file, place, number))
    for place, file in [(0 if f.startswith(FUSED) else n, f) for n, f in enumerate(FILES)]
    if in_turn(file)
    for number, trial in enumerate(trials(file))
]
# Each size of a kernel in its turn: of three sizes every turn has one.
RUNS = [
    pytest.param(
        case, n, id=f"{case.name}-{n}".replace(" ", ""), marks=turns.in_turn(place + number)
    )
    for place, case in enumerate(CASES)
    if in_turn(*case.files)
    for number, n in enumerate(case.test_sizes)
]


@pytest.mark.parametrize("file", FILES)
def test_a_kernel_is_launched_by_a_benchmark_or_a_description(file):
    assert measured(file) or trials(file), (
        f"No test launches kernels/{file}. Describe a launch and its result in "
        f"tests/kernels/launches_{file[:2]}.py, as launchers.py says, or add a benchmark case."
    )


@pytest.mark.parametrize(
    "path",
    [
        path.relative_to(KERNELS)
        for path in sorted(KERNELS.rglob("*.cu"))
        if path.parent.name not in NO_KERNELS or is_solution(path)
    ],
    ids=str,
)
def test_a_kernel_or_solution_says_how_it_is_launched(path):
    """In the comment above its code, which may quote the kernel's first line for a blank start."""
    text = (KERNELS / path).read_text(encoding="utf-8")
    head = re.split(r"^[^/\n].*__global__", text, maxsplit=1, flags=re.M)[0]
    assert re.search(r"^// grid .+, block .+, dynamic shared ", head, re.M)


@pytest.mark.parametrize("folder", sorted({file.rpartition("/")[0] for file in FILES}))
def test_a_folder_is_short_and_its_ladder_has_every_rung_once(folder):
    names = [file.rpartition("/")[2] for file in FILES if file.rpartition("/")[0] == folder]
    rungs = [int(name[:2]) for name in names if name[0].isdigit()]
    assert len(names) <= 20
    assert rungs == list(range(1, len(rungs) + 1))


@pytest.mark.parametrize("trial", TRIALS)
def test_a_described_kernel_is_right_and_clean(trial, capfd):
    made = trial.make()
    if not isinstance(made, Demonstration):
        run(made)
        return
    if PART is not None and made.finds:
        pytest.skip("shows a fault, which compute-sanitizer would report")
    findings = sanitized_call(made.call).findings
    assert tuple(finding.kind for finding in findings) == made.finds
    capfd.readouterr()
    made.call()
    assert sorted(capfd.readouterr().out.splitlines()) == sorted(made.prints)


@pytest.mark.parametrize("case, n", RUNS)
def test_a_measured_kernel_is_right_and_clean(case, n):
    """At its last size the result is also looked at before the launch, where it must be wrong. The
    sanitizer sees each kernel there, or as it is described: those are smaller."""
    work = case.make(n)
    last = n == case.test_sizes[-1]
    if last:
        work.poison()
        assert work.wrong(), "a result that was never written passes"
    run(work, sanitized=last and not described(case))


@pytest.mark.skipif(not ON_GPU, reason="compares a GPU with the emulator")
@pytest.mark.parametrize("case, n", RUNS if ON_GPU else [])
def test_both_devices_give_the_same_bits(case, n):
    work = case.make(n)
    if not work.same_bits:
        pytest.skip("the order of the additions is not fixed")
    work.poison()
    twin = work.on_emulator()
    work()
    twin()
    assert work.output.get().tobytes() == twin.output.get().tobytes()


def test_no_two_cases_share_a_name():
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_emulator_issues_as_many_instructions_as_it_should():
    """The speed that is promised rests on this count: 256³ products, one fma each."""
    case = next(c for c in CASES if c.name == "sgemm_naive")
    (item,) = case.make(64).on_emulator().launches
    counts = item.kernel.launch(item.grid, item.block, item.args).counts
    fmas = sum(n for name, n in counts.opcodes.items() if name.startswith("fma"))
    assert fmas == 64**3
    assert counts.thread_instructions < 8 * 64**3
    assert counts.warp_instructions * 32 == counts.thread_instructions
