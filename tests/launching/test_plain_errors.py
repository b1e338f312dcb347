"""Whatever is passed to load and to a kernel, the answer is a sentence for its reader."""

import pytest

from course_utils import cp, load, profile, sanitize
from course_utils.compiling.diagnostics import CompileError
from course_utils.devices.selection import EMULATOR, ON_GPU
from course_utils.emulator import KernelFault
from course_utils.errors import LessonError

ADD = 'extern "C" __global__ void f(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }'
RECIPES = {
    "a number for a path": ({"path": 3}, "path is a path, such as"),
    "a number for a source": ({"source": 3}, "source is a text"),
    "a number for defines": ({"source": ADD, "defines": 3}, "defines is a dictionary"),
    "a number for names": ({"source": ADD, "names": 3}, "names is a list of texts"),
    "one name": ({"source": ADD, "names": "f"}, "names is a list of texts"),
    "a number for options": ({"source": ADD, "options": 3}, "options is a list of texts"),
    "one option": ({"source": ADD, "options": "-G"}, "options is a list of texts"),
    "another device": ({"source": ADD, "device": "tpu"}, "device is .emulator. or .cuda."),
    "a number for a device": ({"source": ADD, "device": 3}, "device is .emulator. or .cuda."),
}
needs_emulator = pytest.mark.skipif(ON_GPU, reason="is about the emulator's arrays")


@pytest.mark.parametrize("case", RECIPES)
def test_load_says_what_it_takes(case):
    recipe, words = RECIPES[case]
    with pytest.raises(LessonError, match=words):
        load(**recipe)


@pytest.mark.parametrize("shared", ["x", 1.5, None, -1])
def test_shared_memory_counts_bytes(shared):
    with pytest.raises(LessonError, match="It counts bytes, so it must be 0 or more"):
        load(source=ADD)((1,), (32,), (cp.zeros(32, cp.float32), 3), shared_mem=shared)


@pytest.mark.parametrize("shape", [0, (0,), (3, 0)])
def test_an_array_with_no_element_is_passed_like_any_other(shape):
    kernel = load(source=ADD)
    x = cp.zeros(shape, cp.float32)
    kernel((1,), (32,), (x, 0))
    assert not sanitize(kernel, (1,), (32,), (x, 0)).findings
    assert profile(kernel, (1,), (32,), (x, 0))


@needs_emulator
def test_reading_an_array_with_no_element_is_a_fault():
    with pytest.raises((LessonError, KernelFault), match="Null pointer"):
        load(source=ADD)((1,), (32,), (cp.zeros(0, cp.float32), 3))


@needs_emulator
def test_bytes_in_the_other_order_are_named_as_such():
    with pytest.raises(LessonError, match="holds float32 with its bytes in the other order"):
        load(source=ADD)((1,), (32,), (cp.zeros(32, ">f4"), 3))


@pytest.mark.parametrize(
    "call",
    [
        '"%99999999d", 3',
        '"%99999999999999999999d", 3',
        '"%*d", 2000000000, 3',
        '"%.99999999f", 3.0',
        '"%.*f", -3, 3.0',
        f'"%{"9" * 5000}d", 3',
    ],
)
def test_a_number_is_printed_no_wider_than_anybody_reads(call, capsys):
    source = f'extern "C" __global__ void f(int* x) {{ printf({call}); }}'
    load(source=source, device=EMULATOR)((1,), (1,), (None,))
    assert 1 < len(capsys.readouterr().out) < 2000


def test_bad_assembly_is_told_in_the_assembler_s_words():
    source = """extern "C" __global__ void f(int* x)
{
    asm("mov.u32 %0, %%nosuch;" : "=r"(x[0]));
}"""
    with pytest.raises(CompileError, match=r"kernel.cu:3: error: in asm: .*nosuch"):
        load(source=source, device=EMULATOR)((1,), (1,), (None,))


def test_an_instruction_that_only_the_emulator_lacks_stays_its_own_report():
    source = """extern "C" __global__ void f(float* x)
{
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" :: "l"(x), "f"(1.0f));
}"""
    with pytest.raises(KernelFault, match="does not know the instruction `multimem.red.relaxed"):
        load(source=source, device=EMULATOR)((1,), (1,), (None,))


def test_an_interrupted_launch_is_one_line_and_still_an_interrupt(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    kernel = load(source=ADD, device=EMULATOR)
    monkeypatch.setattr(kernel.f.raw.entry, "launch", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        kernel((1,), (32,), (None, 0))
    assert caught.value._render_traceback_() == ["Interrupted: f was stopped before its end."]
