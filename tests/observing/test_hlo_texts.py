"""HLO is taken apart as XLA writes it: for CPUs and GPUs, with % before names and without."""

import pytest

from course_utils.observing.hlo_texts import hlo_computations

ON_A_CPU = """\
HloModule jit_softmax, is_scheduled=true, entry_computation_layout={(f32[4,8]{1,0})->f32[4,8]{1,0}}

%region_0.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0), metadata={op_name="reduce_max"}
  %b = f32[] parameter(1), metadata={op_name="reduce_max"}
  ROOT %max = f32[] maximum(%a, %b), metadata={op_name="jit(f)/reduce" source_line=3}
}

%fused_computation.1 (param_0.1: f32[4,8]) -> f32[4,8] {
  %param_0.1 = f32[4,8]{1,0} parameter(0)
  ROOT %exp.0 = f32[4,8]{1,0} exponential(%param_0.1), metadata={op_name="jit(f)/exp"}
}

ENTRY %main.3 (x.1: f32[4,8]) -> f32[4,8] {
  %x.1 = f32[4,8]{1,0} parameter(0), metadata={op_name="x"}
  ROOT %exp_fusion = f32[4,8]{1,0} fusion(%x.1), kind=kLoop, calls=%fused_computation.1
}

"""

ON_A_GPU = """\
HloModule jit_softmax, is_scheduled=true, frontend_attributes={fingerprint_before_lhs="0a{"}

%triton_softmax_computation (parameter_0: f32[4,8]) -> (f32[4,8], f32[4]) {
  %parameter_0 = f32[4,8]{1,0} parameter(0)
  ROOT %exp.0 = f32[4,8]{1,0} exponential(%parameter_0)
}

ENTRY %main.3 (x.1: f32[4,8]) -> f32[4,8] {
  %x.1 = f32[4,8]{1,0} parameter(0)
  ROOT %triton_softmax = f32[4,8]{1,0} fusion(%x.1), kind=kCustom, \
calls=%triton_softmax_computation, backend_config={"fusion_backend_config":{"kind":"__triton",\
"block_level_fusion_config":{"output_tiles":[{"sizes":["1","8"]}]}},"force_earliest":false}
}, execution_thread="main"
"""

BARE = """\
HloModule jit_softmax, entry_computation_layout={(f32[4,8]{1,0})->f32[4,8]{1,0}}

region_0.1 {
  Arg_0.3 = f32[] parameter(0)
  Arg_1.3 = f32[] parameter(1)
  ROOT maximum.3 = f32[] maximum(Arg_0.3, Arg_1.3)
}

ENTRY main.3 {
  x.1 = f32[4,8]{1,0} parameter(0)
  ROOT exp.1 = f32[4,8]{1,0} exponential(x.1)
}

"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (ON_A_CPU, ["region_0.1", "fused_computation.1", "ENTRY"]),
        (ON_A_GPU, ["triton_softmax_computation", "ENTRY"]),
        (ON_A_CPU.replace("%", ""), ["region_0.1", "fused_computation.1", "ENTRY"]),
        (ON_A_GPU.replace("%", ""), ["triton_softmax_computation", "ENTRY"]),
        (BARE, ["region_0.1", "ENTRY"]),
    ],
    ids=["CPU", "GPU", "CPU without %", "GPU without %", "before optimisation"],
)
def test_every_computation_has_its_name(text, names):
    assert list(hlo_computations(text)) == names


def test_a_computation_is_its_lines_without_the_notes_at_their_ends():
    assert hlo_computations(ON_A_GPU)["ENTRY"].splitlines() == [
        "ENTRY %main.3 (x.1: f32[4,8]) -> f32[4,8] {",
        "  %x.1 = f32[4,8]{1,0} parameter(0)",
        "  ROOT %triton_softmax = f32[4,8]{1,0} fusion(%x.1), kind=kCustom, "
        "calls=%triton_softmax_computation",
        '}, execution_thread="main"',
    ]
    assert "metadata" not in "".join(hlo_computations(ON_A_CPU).values())


@pytest.mark.parametrize("text", ["", "HloModule empty", "}\n}", "ENTRY %cut_off () -> f32[] {\n"])
def test_a_text_that_is_not_understood_is_given_as_it_stands(text):
    assert hlo_computations(text) == {"ENTRY": text}


def test_what_jax_gives_is_taken_apart_before_and_after_optimisation():
    jax = pytest.importorskip("jax")
    lowered = jax.jit(lambda x: jax.nn.softmax(x, axis=1)).lower(jax.numpy.ones((4, 8)))
    before, after = lowered.as_text("hlo"), lowered.compile().as_text()
    for text in (before, after):
        assert "parameter(0)" in hlo_computations(text)["ENTRY"]
    assert len(hlo_computations(before)) == 3  # and the two that the reductions apply
