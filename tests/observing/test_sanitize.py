"""What ``sanitize`` does around a launch: its report, and further runs of asynchronous kernels."""

import pytest

from course_utils import cp, load, sanitize
from course_utils.emulator import (
    CAUSE_STEPS,
    DATA_RACE,
    ERROR,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    WARNING,
    Cause,
    KernelEntry,
    next_step,
)
from course_utils.observing import sanitizing, unoptimised

# Lines 3 to 9 of a kernel that starts one copy, counts to PATIENCE and asks once whether it landed.
COPY = """extern "C" __global__ void f(float *x, float *y, int patience) {
    __shared__ alignas(16) float tile[64];
    __shared__ alignas(8) unsigned long long bar;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile), landed = 0;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;"
                                       "fence.mbarrier_init.release.cluster;" :: "r"(at));
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;"
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%1], [%2], 256, [%0];" :: "r"(at), "r"(to), "l"(x) : "memory");
    for (int i = 0; i < patience; ++i) asm volatile("" ::: "memory");
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(landed) : "r"(at) : "memory");
    y[0] += 1;
    EARLY
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
                 " @!p bra L; }" :: "r"(at) : "memory");
}"""


@pytest.fixture
def kernel(tmp_path):
    def make(source):
        path = tmp_path / "kernel.cu"
        path.write_text(source)
        return load(path).kernel

    return make


@pytest.fixture
def seeds(monkeypatch):
    """The seeds of the launches from now on."""
    seen, launch = [], KernelEntry.launch

    def noted(self, *args, **kwargs):
        seen.append(kwargs["options"].seed)
        return launch(self, *args, **kwargs)

    monkeypatch.setattr(KernelEntry, "launch", noted)
    return seen


def test_what_happens_only_when_a_copy_lands_early_is_found(kernel, seeds):
    x, y = cp.ones(64, cp.float32), cp.zeros(1, cp.float32)
    faulty = kernel(COPY.replace("EARLY", "if (landed) y[landed] = 1;"))
    report = sanitize(faulty, 1, 1, (x, y, 500))
    assert [f.kind for f in report.findings] == [OUT_OF_BOUNDS]
    assert report.findings[0].message.endswith(
        "\n  Seen when asynchronous copies land earlier than they have to."
    )
    assert seeds == [0, 1, 2]


def test_the_runs_begin_with_the_same_memory_and_the_first_one_stays(kernel):
    x, y = cp.ones(64, cp.float32), cp.full(1, 5, cp.float32)
    correct = kernel(COPY.replace("EARLY", "if (y[0] != 6) y[9] = 0; if (landed) y[0] += 100;"))
    assert sanitize(correct, 1, 1, (x, y, 500)).clean
    assert float(y[0]) == 6  # also where y is a GPU's: the copies are brought back


def test_a_kernel_runs_once_when_it_starts_no_copy(kernel, seeds):
    skipped = COPY.replace("EARLY", "").replace("if (threadIdx.x == 0)\n", "if (patience < 0)\n")
    skipped = skipped.replace(
        'asm volatile("{ .reg .pred p; L:', 'if (patience < 0) asm("{ .reg .pred p; L:'
    )
    for source in (
        'extern "C" __global__ void f(float *x, float *y, int n) { y[0] = n; }',
        skipped,
    ):
        seeds.clear()
        x, y = cp.ones(64, cp.float32), cp.zeros(1, cp.float32)
        assert sanitize(kernel(source), 1, 1, (x, y, 3), optimised_only=True).clean
        assert seeds == [0]


def test_the_report_shows_the_first_of_each_kind_and_counts_the_rest(kernel):
    source = """extern "C" __global__ void f(float *x, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    float a = s[63 - threadIdx.x];
    float b = s[(threadIdx.x + 1) % 64];
    x[threadIdx.x + n] = a + b;
}"""
    report = sanitize(kernel(source), 1, 64, (cp.arange(64, dtype=cp.float32), 1))
    text = str(report)
    assert [f.kind for f in report.findings].count(DATA_RACE) >= 2
    assert text.count("Data race (") == 1
    assert "\n  Seen 64 times.\n     3 |     s[threadIdx.x]" in text
    assert "more of this kind (data race):\n  kernel.cu:3 and kernel.cu:5 on s 64 times" in text
    assert "Out of bounds:" in text


SWAP = """extern "C" __global__ void f(float *x, int n) {
    __shared__ float s[64], t[64];
    s[threadIdx.x] = x[threadIdx.x];
    t[threadIdx.x] = x[threadIdx.x];
    MEET
    x[threadIdx.x] = s[threadIdx.x ^ 1] + t[WHO];
}"""


@pytest.mark.parametrize("who, errors", [("threadIdx.x ^ 2", 0), ("threadIdx.x ^ 32", 1)])
def test_a_warning_is_shown_alone_in_full_and_beside_an_error_in_a_line(kernel, who, errors):
    source = SWAP.replace("MEET", "").replace("WHO", who)
    report = sanitize(kernel(source), 1, 64, (cp.arange(64, dtype=cp.float32), 1))
    assert (len(report.errors), len(report.warnings)) == (errors, 2 - errors)
    assert not report.clean
    text = str(report)
    if errors:
        assert text.startswith("Data race (read after write) on t[")
        warnings = "Warnings:\n  data race: kernel.cu:3 and kernel.cu:6 on s 64 times"
        assert text.endswith(f'\n\n{warnings}\nmore: 00/03, "Data race"')
    else:
        assert "put __syncwarp() between the two.\n  Seen 64 times.\n     3 |" in text
        assert "Warnings:" not in text


def test_a_shuffle_is_no_barrier_and_is_named(kernel):
    source = SWAP.replace("MEET", "n += __shfl_xor_sync(~0u, n, 1);").replace("WHO", "threadIdx.x")
    source = source.replace("+ t", "* n + t")
    (found,) = sanitize(kernel(source), 1, 64, (cp.arange(64, dtype=cp.float32), 1)).findings
    assert (found.level, found.cause) == (WARNING, Cause.NO_ORDER_IN_WARP)
    assert "shuffle at kernel.cu:5" in found.message


def test_a_race_within_warps_first_and_between_them_later_is_an_error(kernel):
    source = """extern "C" __global__ void f(float *x, int n) {
    __shared__ float s[64];
    for (int i = 1; i < 64; i *= 2) {
        s[threadIdx.x] = i;
        if (threadIdx.x < i) x[threadIdx.x] = s[threadIdx.x ^ i];
        __syncthreads();
    }
}"""
    (found,) = sanitize(kernel(source), 1, 64, (cp.zeros(64, dtype=cp.float32), 1)).findings
    assert found.level == ERROR and "Warning" not in found.message


REMOVED = """__device__ int calls = 7;
extern "C" __global__ void f(const float *x, float *y, int n) {
    float sum[2] = {0.0f};
    int at;
    if (n < 0) at = n;
    for (int j = 0; j < TURNS; ++j) sum[j] += x[j];
    for (int j = 0; j < TURNS; ++j) y[j] += sum[j];
    if (calls != 7) y[9] = 0;
    calls += 1;
    if (LOOK) y[0] = x[at];
}"""


@pytest.fixture
def patient(monkeypatch):
    """However busy this machine is, a second run is worth the wait."""
    for name in ("SECONDS", "COMPILING", "PATIENCE"):
        monkeypatch.setattr(unoptimised, name, 600.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    "turns, look, kinds",
    [("4", "false", [OUT_OF_BOUNDS]), ("2", "true", [UNINITIALISED]), ("2", "false", [])],
)
def test_what_the_optimiser_removed_is_found_and_nothing_runs_twice(kernel, turns, look, kinds):
    faulty = kernel(REMOVED.replace("TURNS", turns).replace("LOOK", look))
    assert sanitize(faulty, 1, 1, launch := ones_and_zeros(4), optimised_only=True).clean
    y = launch[1].get()
    again = kernel(REMOVED.replace("TURNS", turns).replace("LOOK", look))
    report = sanitize(again, 1, 1, launch := ones_and_zeros(4))
    assert [f.kind for f in report.findings] == kinds
    assert all("Found with -G" in f.message for f in report.findings)
    assert launch[1].get().tobytes() == y.tobytes()


UNSET = """extern "C" __global__ void f(const float *x, float *y, int n) {
    int base;
    if (n > 100) base = n;
    y[threadIdx.x] = x[base + threadIdx.x];
}"""


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    "source, kinds",
    [(UNSET, [UNINITIALISED]), (UNSET.replace("int base", "int base = 1"), [OUT_OF_BOUNDS])],
)
def test_an_index_of_a_variable_that_was_never_set_is_the_cause_of_its_fault(kernel, source, kinds):
    report = sanitize(kernel(source), 1, 4, launch := ones_and_zeros(4))
    assert [(f.kind, f.location.line) for f in report.findings] == [(kinds[0], 4)]
    known = report.findings[0].cause == Cause.VARIABLE_NOT_INITIALISED
    assert known == (kinds == [UNINITIALISED])
    assert launch[0].get().tolist() == [1.0] * 4


def ones_and_zeros(n):
    return cp.ones(n, cp.float32), cp.zeros(n, cp.float32), 3


@pytest.mark.usefixtures("patient")
def test_a_kernel_of_rawmodule_is_compiled_without_the_optimiser_too():
    code = REMOVED.replace("TURNS", "4").replace("LOOK", "false")
    raw = cp.RawModule(code=code).get_function("f")
    x, y, n = ones_and_zeros(4)
    report = sanitize(raw, 1, 1, (x, y, cp.int32(n)))
    assert [f.kind for f in report.findings] == [OUT_OF_BOUNDS]


def test_the_next_step_comes_once_for_each_cause(kernel):
    source = """extern "C" __global__ void f(float *x, int n) {
    __shared__ float s[64], t[64];
    t[threadIdx.x % 8] += 1;
    s[threadIdx.x] = x[threadIdx.x];
    float a = s[63 - threadIdx.x];
    float b = s[(threadIdx.x + 40) % 64];
    x[threadIdx.x] = a + b;
}"""
    report = sanitize(kernel(source), 1, 64, (cp.arange(64, dtype=cp.float32), 1))
    steps = [line.partition(": ")[2] for line in str(report).splitlines() if line[:4] == "next"]
    assert sorted(steps) == sorted({next_step(f) for f in report.errors})
    assert CAUSE_STEPS[Cause.UPDATE_OF_ONE_INDEX] in steps


@pytest.mark.parametrize(("start", "unchanged"), [(cp.ones, True), (cp.arange, False)])
def test_a_race_that_leaves_the_values_as_they_were_is_mentioned(kernel, start, unchanged):
    smooth = kernel(
        'extern "C" __global__ void f(float *x) {\n'
        "    int i = threadIdx.x + 1;\n"
        "    x[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] * x[i + 1];\n"
        "}"
    )
    report = sanitize(smooth, 1, 64, (start(66, dtype=cp.float32),), optimised_only=True)
    assert report.clean == bool(report.unchanged) == (sanitizing.UNCHANGED in str(report))
    assert report.clean == unchanged


def test_a_report_ends_with_the_compiler_s_warnings(kernel):
    source = """extern "C" __global__ void f(float *x, int n) {
    int unused;
    if (n = 3) x[threadIdx.x] = n;
}"""
    report = sanitize(kernel(source), 1, 32, (cp.zeros(32, cp.float32), 5))
    (warning,) = report.compiler_warnings
    assert report.clean and "kernel.cu(3): warning #187-D" in warning
    assert str(report).endswith(warning)


def test_what_takes_long_runs_once(kernel, seeds, monkeypatch):
    monkeypatch.setattr(unoptimised, "SECONDS", 0.0)
    assert sanitize(kernel(SCALE), 1, 1, (cp.ones(1, cp.float32), 3)).clean
    assert seeds == [0]


SCALE = 'extern "C" __global__ void f(float *x, int n) { x[0] *= n; }'
