"""Has an answer the kernel that is launched, with the parameters that are passed?

The source is read first, which gives the better messages. Where that fails the compiler decides:
macros, aliases and old versions under ``#if 0`` are no mistakes.
"""

from __future__ import annotations

from pathlib import Path

from ...checking.verdict import Verdict
from ...compiling import signature
from ...compiling.diagnostics import CompileError
from ...compiling.signature import Parameter, Signature
from ...launching.modules import Module
from ...paths import is_solution
from ..authoring import emulated_runs, kinds
from ..authoring.spec import KernelExercise
from .outcome import copied, simple

# A pointer to const is as good as one without, so const is taken off what is pointed at.
PROBE = """
namespace course_probe {{
template <class T> struct bare {{ using type = T; }};
template <class T> struct bare<const T*> {{ using type = T*; }};
template <class T> struct plain;
template <class R, class... A> struct plain<R (*)(A...)> {{
    using type = R (*)(typename bare<A>::type...);
}};
template <class A, class B> struct same {{ static constexpr bool value = false; }};
template <class A> struct same<A, A> {{ static constexpr bool value = true; }};
static_assert(same<typename plain<decltype(&::{name})>::type,
                   typename plain<void (*)({types})>::type>::value, "other parameters");
}}
"""


def wanted_kernels(exercise: KernelExercise) -> dict[str, Signature]:
    """The kernels that the exercise launches, as the solution declares them."""
    ours = signature.kernels(exercise.with_probe(exercise.solution))
    launches = exercise.launches(exercise.small[0])
    return {name: ours[name] for name in sorted({x.kernel or exercise.kernel for x in launches})}


def declare_kernels(exercise: KernelExercise, module: Module) -> None:
    """Let the launches of an answer that was checked go by the solution's parameters."""
    for found in wanted_kernels(exercise).values():
        module.declare(found)


def entry_problem(exercise: KernelExercise, module: Module, source: str) -> Verdict | None:
    """What is wrong with the kernels' names or parameters, or with where they come from; None where
    nothing is."""
    found = signature.kernels(exercise.with_probe(source))
    for name, wanted in wanted_kernels(exercise).items():
        as_read = name in found and _types(found[name]) == _types(wanted)
        if not as_read or not _has_kernel(module, name):
            module.declare(wanted)
            if not _has_kernel(module, name):
                return _wrong_name(name, wanted, found)
            if not _compiler_agrees(exercise, source, wanted):
                message = f"{name} has other parameters than the launch passes."
                excerpt = f"yours:    {found.get(name, name)}\nexpected: {wanted}"
                return simple(kinds.WRONG_SIGNATURE, message, excerpt=excerpt)
        if answer := _copied(module, name):
            return answer
    return None


def _copied(module: Module, name: str) -> Verdict | None:
    """Does the code come from a solution that the cell includes?"""
    files = map(Path, module[name].raw.entry.module.files.values())
    for path in (file.resolve() for file in files):
        if is_solution(path):
            return copied(path.name)
    return None


def _compiler_agrees(exercise: KernelExercise, source: str, wanted: Signature) -> bool:
    types = ", ".join(map(_c_type, wanted.parameters))
    probe = PROBE.format(name=wanted.name, types=types)
    try:
        emulated_runs.load_answer(exercise, f"{source}\n{probe}", "probe.cu")
    except CompileError:
        return False
    return True


def _c_type(parameter: Parameter) -> str:
    return f"{parameter.c_type}{'*' if parameter.pointer else ''}"


def _types(found: Signature) -> list[tuple[bool, str]]:
    return [(p.pointer, str(p.dtype or p.c_type)) for p in found.parameters]


def _has_kernel(module: Module, name: str) -> bool:
    """Does the compiler know a kernel by this very name? A C++ one's has its parameters in it."""
    try:
        return bool(module[name].raw.entry.name == name)
    except (AttributeError, KeyError):
        return False


def _wrong_name(name: str, wanted: Signature, found: dict[str, Signature]) -> Verdict:
    if name in found:
        message = f"the compiler has changed the name of {name}."
        hint = 'Put extern "C" before __global__: C++ otherwise adds the parameters to the name.'
        return simple(kinds.WRONG_NAME, message, hint=hint)
    if found:
        message = f"no kernel is called {name}; this cell has {', '.join(found)}."
        return simple(kinds.WRONG_NAME, message)
    message = f"there is no kernel in this cell: {name} is missing."
    hint = f'A kernel begins with: extern "C" __global__ void {wanted}'
    return simple(kinds.WRONG_NAME, message, hint=hint)
