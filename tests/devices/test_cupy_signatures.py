"""The emulated ``cp`` beside CuPy's own signatures, and the stored ones beside CuPy."""

import inspect
from types import SimpleNamespace

import pytest

from course_utils.devices import cupy_survey, emulated_cuda, emulated_functions
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.cupy_signatures import NO_FUNCTIONS, CupySignature, stored

SPACES = {"": cp, "fft": cp.fft, "linalg": cp.linalg, "random": cp.random, "testing": cp.testing}
OWN = {  # the emulator's own functions, and its classes with the names that they have beyond CuPy's
    "": (cp, ()),
    "ndarray": (cp.ndarray, ()),
    "ufunc": (emulated_functions.ufunc, ()),
    "cuda": (SimpleNamespace(**{n: getattr(cp.cuda, n) for n in emulated_cuda.__all__}), ()),
    "cuda.runtime": (cp.cuda.runtime, ()),
    "cuda.Device": (cp.cuda.Device, ()),
    "cuda.Event": (cp.cuda.Event, ()),
    "cuda.Stream": (cp.cuda.Stream, ("ptr",)),  # each of CuPy's has it, the class has not
    # What `load` and the observers ask of a kernel.
    "RawKernel": (cp.RawKernel, ("compiled", "launch", "resident_blocks")),
    "RawModule": (cp.RawModule, ("add_names", "compiled")),
}
CONSTRUCTED = ("ndarray", "cuda.Device", "cuda.Event", "cuda.Stream", "RawKernel", "RawModule")


@pytest.mark.parametrize("table", OWN)
def test_the_emulator_has_no_name_and_no_argument_that_cupy_lacks(table):
    cupys = stored()[table]
    space, beyond = OWN[table]
    for name in dir(space):
        if not name[0].isalpha() or name in beyond:
            continue
        assert name in cupys, f"CuPy has no {table}.{name}"
        ours = getattr(space, name)
        if cupys[name] not in NO_FUNCTIONS and inspect.isfunction(ours):
            takes_no_more(ours, cupys[name], f"{table}.{name}")


@pytest.mark.parametrize("table", CONSTRUCTED)
def test_a_constructor_takes_what_cupys_takes(table):
    takes_no_more(OWN[table][0].__init__, stored()[table]["()"], table)


def takes_no_more(ours, text, name):
    cupys = CupySignature.of(name, text)
    if cupys.any_named or cupys.any_positional:
        return
    kinds = inspect.Parameter
    parameters = [p for p in inspect.signature(ours).parameters.values() if p.name != "self"]
    if all(p.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD) for p in parameters):
        return  # those that ask the table
    positional = [p.name for p in parameters if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    assert tuple(positional) == cupys.positional[: len(positional)], name
    assert {p.name for p in parameters} <= cupys.named, name


@pytest.mark.parametrize("table", SPACES)
def test_every_name_of_cupy_is_its_own_or_explained(table):
    """What both libraries have is there; of what NumPy lacks a message says so."""
    for name in stored()[table]:
        try:
            getattr(SPACES[table], name)
        except AttributeError as error:
            assert "emulator" in str(error)


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [
        ("a axis=", (1, 2, 3), {}),
        ("a axis=", (1,), {"out": 2}),
        ("* out=", (1,), {}),
        ("a / b=", (1,), {"a": 2}),
    ],
)
def test_a_signature_refuses_other_arguments(text, args, kwargs):
    with pytest.raises(TypeError, match="f()"):
        CupySignature.of("f", text).check(args, kwargs)


def test_a_signature_lets_its_own_arguments_through():
    CupySignature.of("f", "a axis= * out=").check((1, 2), {"out": 3})
    CupySignature.of("f", "*args **kwargs").check((1, 2), {"any": 3})


@pytest.mark.parametrize(
    ("documentation", "text"),
    [
        ("nd.max(self, axis=None, out=None) -> nd", "axis= out="),
        ("f(nd a, int axis=-1, *, tuple of=(1, 2), **kw)\n\nText (here).", "a axis= * of= **kw"),
        ("f()", ""),
    ],
)
def test_cythons_documentation_says_the_parameters(documentation, text):
    assert cupy_survey.parameters(SimpleNamespace(__doc__=documentation)) == text


def test_pythons_functions_say_their_own():
    def function(a, b=1, *, c, d=2): ...

    assert cupy_survey.parameters(function) == "a b= * c d="


def test_what_the_emulator_takes_the_installed_cupy_takes_too():
    installed = cupy_survey.survey(pytest.importorskip("cupy"))
    for table, names in stored().items():
        for name, text in names.items():
            if not here(table, name):
                continue
            assert name in installed[table], f"{table}.{name}"
            if text not in NO_FUNCTIONS:
                mine = CupySignature.of(name, text)
                its = CupySignature.of(name, installed[table][name])
                assert its.any_named or mine.named <= its.named, f"{table}.{name}"
                assert its.positional[: len(mine.positional)] == mine.positional, f"{table}.{name}"


def here(table, name):
    """Whether the emulator has it."""
    try:
        return hasattr(SPACES.get(table) or OWN[table][0], name)
    except KeyError:
        return False
