"""Random programs on the emulator: what every register and variable holds in the end.

The same programs run on a GPU in ``fidelity.py``.
"""

import numpy as np
import pytest
import random_kernels
import random_programs
from instruction_forms import CLOSE, errors

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.devices.selection import ON_GPU
from course_utils.emulator import ALL_CHECKS, EmulatedModule, Options

SHAPE = random_programs.BLOCKS, random_programs.THREADS


def run(program, **options):
    outputs = program.outputs()
    entry = EmulatedModule(program.text).entry("run")
    entry.launch(*SHAPE, [program.words, *outputs], options=Options(**options))
    return outputs


@pytest.mark.parametrize("seed", range(48))
def test_a_random_program_leaves_what_a_walk_over_its_tree_gives(seed):
    program = random_programs.program(seed)
    registers, close = run(program)
    expected, approximations = program.expected()
    names = [random_programs.NAMES[n] for n in np.flatnonzero((registers != expected).any(1))]
    assert names == [], program.text
    for ours, theirs in zip(program.approximations(close), approximations, strict=True):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("seed", range(48, 60))
def test_the_sanitizer_changes_no_result_and_finds_nothing_in_a_random_program(seed):
    program = random_programs.program(seed)
    outputs = program.outputs()
    entry = EmulatedModule(program.text).entry("run")
    options = Options(checks=ALL_CHECKS)
    result = entry.launch(*SHAPE, [program.words, *outputs], options=options)
    assert [f.message for f in result.findings] == []
    assert [x.tobytes() for x in outputs] == [x.tobytes() for x in run(program)]


def test_a_seed_gives_one_program():
    assert random_programs.program(7).text == random_programs.program(7).text
    assert random_programs.program(7).text != random_programs.program(9).text


@pytest.mark.parametrize("seed", range(24))
def test_a_random_kernel_computes_what_numpy_computes(seed):
    kernel = random_kernels.kernel(seed)
    out = np.zeros_like(kernel.words)
    entry = EmulatedModule(compile_ptx(kernel.source, filename="random.cu")).entry("run")
    entry.launch(random_kernels.BLOCKS, random_kernels.THREADS, [kernel.words, out])
    got, expected = kernel.values(out), kernel.expected()
    wrong = [n for n in random_kernels.NAMES if not random_kernels.same(got[n], expected[n]).all()]
    assert wrong == [], kernel.source


@pytest.mark.gpu
@pytest.mark.skipif(not ON_GPU, reason="compares a GPU with the emulator")
@pytest.mark.parametrize("seed", range(1000, 1032))
def test_both_devices_leave_the_same_registers(seed):
    from fidelity import on_gpu

    program = random_programs.program(seed)
    registers, close = run(program)
    arguments = [program.words, *program.outputs()]
    _, on_device, close_on_device = on_gpu(program.text, "run", *SHAPE, arguments)
    names = [random_programs.NAMES[n] for n in np.flatnonzero((registers != on_device).any(1))]
    assert names == [], program.text
    for form, ours, theirs in zip(
        program.close,
        program.approximations(close),
        program.approximations(close_on_device),
        strict=True,
    ):
        assert (errors(form, ours, theirs) <= CLOSE[form]).all(), form
