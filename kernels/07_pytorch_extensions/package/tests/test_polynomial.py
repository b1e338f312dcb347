"""What a user of the wheel relies on; run against the installed package, on each device here."""

import pytest
import torch
from course_polynomial import polynomial

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
COEFFICIENTS = [1.0, -0.5, 0.25, 2.0]


@pytest.fixture(params=DEVICES)
def x(request):
    torch.manual_seed(1)
    return torch.randn(3, 100, dtype=torch.float64, device=request.param)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (257,), (3, 5, 7)])
def test_the_values_are_those_of_the_formula(x, dtype, shape):
    x = torch.randn(shape, dtype=dtype, device=x.device)
    expected = sum(c * x**k for k, c in enumerate(COEFFICIENTS))
    torch.testing.assert_close(polynomial(x, COEFFICIENTS), expected)


def test_both_gradients_are_right(x):
    x = x[0, :7].clone().requires_grad_()
    assert torch.autograd.gradcheck(polynomial, (x, COEFFICIENTS))
    assert torch.autograd.gradgradcheck(polynomial, (x, COEFFICIENTS))


def test_the_operator_passes_pytorchs_own_checks(x):
    operator = torch.ops.course_polynomial.polynomial.default
    torch.library.opcheck(operator, (x.requires_grad_(), COEFFICIENTS))


@pytest.mark.parametrize(
    "change, message",
    [(lambda x: x.half(), "float32"), (lambda x: x.T, "contiguous")],
)
def test_what_it_cannot_take_is_refused_in_words(x, change, message):
    with pytest.raises(RuntimeError, match=message):
        polynomial(change(x), COEFFICIENTS)


def test_no_coefficients_are_refused(x):
    with pytest.raises(RuntimeError, match="1 to 16"):
        polynomial(x, [])
