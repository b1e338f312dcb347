"""Reports on kernels of Triton, Numba and Warp speak in the words of their language."""

from __future__ import annotations

import re
from functools import cache

import pytest

from course_utils.emulator import ALL_CHECKS, CAUSE_STEPS, Cause, Finding, KernelFault, Options
from course_utils.emulator.findings.language_steps import LANGUAGE_STEPS
from course_utils.emulator.findings.language_words import WORDS, Language
from course_utils.emulator.findings.next_steps import KIND_STEPS, next_step
from course_utils.emulator.findings.report import KINDS
from course_utils.emulator.languages.numba_arrays import with_names_of_arrays
from tests.emulator.other_languages import recorded
from tests.emulator.other_languages.cases import CASES

OTHERS = tuple(language for language in Language if language is not Language.CUDA)
# Words of CUDA C++ alone: Numba's own begin with "cuda.".
CUDA_ONLY = re.compile(
    r"__\w|(?<!cuda\.)\b(?:threadIdx|blockIdx|syncthreads|syncwarp|ballot_sync)|atomic[A-Z]\w+"
    r"|static_cast|if \(|\bfloat ?[*24]|cuda::|cudaM"
)
# Of instructions and objects that Numba's kernels have no way to reach.
OF_CUDA_ALONE = re.compile(
    "CLUSTER|WGMMA|TENSOR|MBARRIER|BLOCK_MAY_END|BLOCK_HAS_ENDED|BLOCK_NOT_STARTED|COPY|COPIES|"
    "GROUP|FENCE_MISSING|SURFACE|TEXTURE|SHARED_ARRAYS_OVERLAP|SCOPE|BARRIER_NUMBER|BARRIER_COUNT|"
    "ARRIVAL|NUMBERS_AS_ADDRESS|KERNEL_LAUNCHES_KERNEL|VECTOR_MISALIGNED|TILE_MISALIGNED"
)


@cache
def reported(name: str) -> Finding:
    """The first finding of the checks in a recorded launch."""
    case = CASES[name]
    try:
        result = recorded.replayed(case, case.made()).run(Options(checks=ALL_CHECKS))
    except KernelFault as fault:
        return fault.finding
    return result.findings[0]


@pytest.mark.parametrize("language", OTHERS)
def test_no_step_of_a_language_has_words_of_cuda_cpp(language):
    wrong = [text for text in LANGUAGE_STEPS[language].values() if CUDA_ONLY.search(text)]
    assert not wrong


def test_a_cause_whose_step_names_cuda_cpp_has_its_own_for_numba():
    steps = LANGUAGE_STEPS[Language.NUMBA]
    named = {cause for cause, text in CAUSE_STEPS.items() if CUDA_ONLY.search(text)}
    assert not [c for c in named if c not in steps and not OF_CUDA_ALONE.search(c.name)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", OTHERS)
def test_every_kind_has_a_step(language, kind):
    finding = Finding(kind, "", cause=Cause.UNKNOWN_INSTRUCTION, language=language)
    assert next_step(finding, atomics=False)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("numba_no_barrier_90", Language.NUMBA),
        ("numba_no_guard_90", Language.NUMBA),
        ("triton_no_mask_90", Language.TRITON),
        ("triton_two_to_one_90", Language.TRITON),
    ],
)
def test_a_finding_knows_the_language_of_its_kernel(name, language):
    finding = reported(name)
    steps = LANGUAGE_STEPS[language]
    assert finding.language is language
    assert next_step(finding) == (steps.get(finding.cause) or steps[finding.kind])
    assert next_step(finding) not in (CAUSE_STEPS.get(finding.cause), KIND_STEPS[finding.kind])


def test_a_race_in_numba_names_numbas_barrier():
    finding = reported("numba_no_barrier_90")
    assert finding.cause is Cause.NO_ORDER_IN_BLOCK
    assert WORDS[Language.NUMBA].block_barrier in finding.message
    assert WORDS[Language.CUDA].block_barrier not in re.sub(r"cuda\.\w+", "", finding.message)


PTX = ".visible .shared .align 4 .b8 _cudapy_smem_2[512];\nmov.u64 %rd15, _cudapy_smem_2;\n"


def one_array(cuda):
    tile = cuda.shared.array(128, float)
    tile[0] = 0


def two_arrays(cuda):
    first = cuda.shared.array(8, int)
    second = cuda.shared.array(4, int)
    return first, second


def test_a_shared_array_has_the_name_of_its_variable():
    assert "_cudapy" not in with_names_of_arrays(PTX, one_array)
    assert "mov.u64 %rd15, tile;" in with_names_of_arrays(PTX, one_array)


def test_two_shared_arrays_are_named_in_their_order():
    declared = ".shared .align 4 .b8 _cudapy_smem_11[16];\n.shared .b8 _cudapy_smem_9[32];"
    named = with_names_of_arrays(declared, two_arrays)
    assert "second[16]" in named and "first[32]" in named


@pytest.mark.parametrize("function", [two_arrays, len])
def test_nothing_is_renamed_where_arrays_and_variables_cannot_be_paired(function):
    assert with_names_of_arrays(PTX, function) == PTX


def test_a_name_that_the_ptx_has_already_stays_its_own():
    text = PTX + ".func tile()"
    assert with_names_of_arrays(text, one_array) == text
