"""The operator of chapter 07 as a user of PyTorch meets it, and the wheel that is made of one."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from runpy import run_path
from shutil import copytree

import pytest

from course_utils import device
from course_utils.paths import KERNELS

FOLDER = KERNELS / "07_pytorch_extensions"
ON = "cuda" if device() == "cuda" else "cpu"


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def file(torch):
    """The names of the file, run once: a second operator of the same name would end the first, and
    PyTorch doesn't notice a call of that one."""
    return run_path(str(FOLDER / "activation/polynomial_operator.py"))


@pytest.fixture(scope="module")
def polynomial(file):
    return file["polynomial"]


@pytest.fixture
def drawn(torch):
    """A function that draws x of a shape and four coefficients."""

    def draw(*shape, dtype=torch.float64):
        torch.manual_seed(1)
        x, c = (torch.randn(size, dtype=dtype, device=ON) for size in (shape, 4))
        return x.requires_grad_(), c.requires_grad_()

    return draw


def by_formula(x, c):
    return sum(c[k] * x**k for k in range(len(c)))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (257,), (3, 5, 7)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients_are_those_of_the_formula(torch, polynomial, drawn, shape, dtype):
    x, c = drawn(*shape, dtype=getattr(torch, dtype))
    y, want = polynomial(x, c), by_formula(x, c)
    torch.testing.assert_close(y, want)
    dy = torch.randn_like(want)
    found = torch.autograd.grad(y, (x, c), dy)
    torch.testing.assert_close(found, torch.autograd.grad(want, (x, c), dy))


@pytest.mark.parametrize(
    "view",
    [lambda t: t.T, lambda t: t[:, ::2], lambda t: t[:1].expand(4, -1), lambda t: t[1:, 1:]],
    ids=["transposed", "every other column", "expanded", "a part"],
)
def test_strides_are_taken_and_the_result_is_contiguous(torch, polynomial, drawn, view):
    x, c = drawn(5, 6)
    y = polynomial(view(x.detach()), c.detach())
    assert y.is_contiguous()
    torch.testing.assert_close(y, by_formula(view(x.detach()), c.detach()))


def test_the_gradient_agrees_with_finite_differences(torch, polynomial, drawn):
    assert torch.autograd.gradcheck(polynomial, drawn(2, 3))


def test_it_passes_pytorchs_own_checks(torch, polynomial, drawn):
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    results = torch.library.opcheck(polynomial, drawn(2, 3), test_utils=checks)
    assert results == dict.fromkeys(checks, "SUCCESS")


def test_it_is_one_node_of_one_graph(torch, polynomial, drawn):
    found = []

    def backend(graph, inputs):
        found.append([node.name for node in graph.graph.nodes if node.op == "call_function"])
        return graph

    compiled = torch.compile(lambda x, c: polynomial(2 * x, c) + 1, fullgraph=True, backend=backend)
    x, c = (t.detach() for t in drawn(3, 4))
    torch.testing.assert_close(compiled(x, c), by_formula(2 * x, c) + 1)
    (nodes,) = found
    assert sum("polynomial" in name for name in nodes) == 1


@pytest.mark.parametrize(
    "change, error, words",
    [
        (lambda x, c: (x.half(), c), TypeError, "torch.float16"),
        (lambda x, c: (x.long(), c), TypeError, "torch.int64"),
        (lambda x, c: (x, c.float()), TypeError, "torch.float32"),
        (lambda x, c: (x, c[:0]), ValueError, r"\(0,\)"),
        (lambda x, c: (x, c[None]), ValueError, r"\(1, 4\)"),
    ],
)
def test_what_it_cannot_take_is_refused_in_words(polynomial, drawn, change, error, words):
    with pytest.raises(error, match=words):
        polynomial(*change(*(t.detach() for t in drawn(3))))


def test_a_tensor_on_another_device_is_refused_and_one_without_numbers_is_not(
    torch, file, monkeypatch
):
    x, c = torch.ones(2, 3, device="meta"), torch.ones(4, device="meta")
    assert file["polynomial"](x, c).shape == (2, 3)
    other = "cuda" if ON == "cpu" else "cpu"
    monkeypatch.setitem(file["check"].__globals__, "RUNS_ON", other)
    x, c = (torch.ones(shape, device=ON) for shape in (3, 4))
    with pytest.raises(ValueError, match=rf"x is on {ON}.*x.to\('{other}'\)"):
        file["check"](x, c)


def test_no_two_sources_of_the_package_become_one_object():
    """setuptools names an object after its source without the ending."""
    names = [path.stem for path in (FOLDER / "package/csrc").iterdir() if path.suffix != ".h"]
    assert len(names) == len(set(names)) == 2


@pytest.mark.skipif(ON == "cpu", reason="streams are a GPU's")
def test_it_runs_on_the_current_stream(torch, polynomial):
    x, c = torch.zeros(1 << 16, device=ON), torch.ones(3, device=ON)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(10_000_000)
        x.fill_(2)
        y = polynomial(x, c)
    torch.cuda.synchronize()
    assert bool((y == 7).all())


def ran(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.gpu  # half a minute of compiling; CPU_ONLY=1 builds it without nvcc
def test_the_package_builds_a_wheel_that_passes_its_tests_in_a_new_environment(torch, tmp_path):
    source = copytree(FOLDER / "package", tmp_path / "source")
    pip = "-m", "pip", "--disable-pip-version-check"
    flags = "-q", "--no-build-isolation", "--no-deps"
    ran(sys.executable, *pip, "wheel", *flags, "-w", tmp_path, source, env={**os.environ})
    (wheel,) = tmp_path.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    ran(sys.executable, "-m", "venv", tmp_path / "new")
    python = tmp_path / "new/bin/python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    theirs = sysconfig.get_paths()["purelib"]  # with PyTorch
    Path(ran(python, "-c", ask).strip(), "ours.pth").write_text(theirs)
    ran(python, *pip, "install", "-q", "--no-deps", "--no-index", wheel)
    tests = "-m", "pytest", "-q", "-p", "no:cacheprovider", source / "tests"
    assert " passed" in ran(python, *tests, cwd=tmp_path)
