"""A right answer passes, however it is written."""

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source

SAXPY = find("04.saxpy")
PARAMETERS = "(float a, const float* x, float* y, int n)"
BODY = """
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
OLD = 'extern "C" __global__ void saxpy(float* x, float* y, int n)\n{\n    y[0] = 1.0f;\n}\n'

ANSWERS = {
    "name from a macro": f'#define NAME saxpy\nextern "C" __global__ void NAME{PARAMETERS}{BODY}',
    "head from a macro": '#define KERNEL(f) extern "C" __global__ void f\n'
    f"KERNEL(saxpy){PARAMETERS}{BODY}",
    "parameters from a macro": "#define GIVEN float a, const float* x, float* y, int n\n"
    f'extern "C" __global__ void saxpy(GIVEN){BODY}',
    "bounds before global": f'extern "C" __launch_bounds__(256) __global__ void saxpy{PARAMETERS}'
    + BODY,
    "void before global": f'extern "C" {{ void __global__ saxpy{PARAMETERS}{BODY} }}',
    "attribute for global": f'extern "C" __attribute__((global)) void saxpy{PARAMETERS}{BODY}',
    "arrow for void": f'extern "C" __global__ auto saxpy{PARAMETERS} -> void{BODY}',
    "old version below, switched off": f"{SAXPY.solution}\n#if 0\n{OLD}#endif\n",
    "old version above, switched off": f"#if 0\n{OLD}#endif\n{SAXPY.solution}",
    "old version under another name": OLD.replace("saxpy", "first_try") + SAXPY.solution,
    "alias": 'using real = float;\nusing in = const real*;\nextern "C" __global__ void '
    f"saxpy(real a, in x, real* y, int n){BODY}",
    "template alias": 'template <class T> using In = const T*;\nextern "C" __global__ void '
    f"saxpy(float a, In<float> x, float* y, int n){BODY}",
    "pointer typedef": 'typedef float* out;\nextern "C" __global__ void '
    f"saxpy(float a, const float* x, out y, int n){BODY}",
    "const on the right": 'extern "C" __global__ void saxpy(float const a, float const* const '
    f"__restrict__ x, float* __restrict__ y, signed n){BODY}",
    "grid-stride loop": f'extern "C" __global__ void saxpy{PARAMETERS}\n{{\n    for (size_t i = '
    "blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        y[i] = fmaf(a, x[i], y[i]);\n}\n",
    "debugging lines": SAXPY.solution.replace(
        "if (i < n) {", 'if (i == 0) printf("a = %f, x[0] = %f\\n", a, x[0]);\n    if (i < n) {'
    ),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_a_right_answer_passes_however_it_is_written(how):
    outcome = run_source(SAXPY, ANSWERS[how])
    assert outcome.passed, outcome


@pytest.mark.parametrize(
    "old, new", [("int n", "long long n"), ("float* y", "double* y"), ("float a", "double a")]
)
@pytest.mark.parametrize("how", ["void before global", "alias", "parameters from a macro"])
def test_other_parameters_are_still_seen(how, old, new):
    source = ANSWERS[how].replace(old, new).replace(old.replace("float", "real"), new)
    assert run_source(SAXPY, source).kind == kinds.WRONG_SIGNATURE


def test_the_thread_that_starts_a_store_may_fence_for_all_after_the_barrier():
    exercise = find("08.unseen_squares")
    fence = "    writes_are_ready(); // by every thread that wrote, after it wrote\n"
    old = f"{fence}    __syncthreads();"
    new = "    __syncthreads();\n    if (threadIdx.x == 0) writes_are_ready();"
    assert exercise.solution.count(old) == 1
    assert run_source(exercise, exercise.solution.replace(old, new)).kind == kinds.PASS
    before = exercise.solution.replace(old, "\n".join(reversed(new.split("\n"))))
    assert run_source(exercise, before).kind == kinds.DATA_RACE
