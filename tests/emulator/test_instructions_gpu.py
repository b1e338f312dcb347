"""Every instruction form, on a GPU and in the table, with the same operands: bit for bit.

Skipped where there is no GPU. Each form becomes a kernel of one instruction that the driver
assembles; a form that the driver does not know is left out.
"""

from __future__ import annotations

import pytest
from instruction_forms import CLOSE, EXACT, both, differing, errors, explain

cupy = pytest.importorskip("cupy")
if not cupy.is_available():
    pytest.skip("no GPU here", allow_module_level=True)
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("form", EXACT)
def test_the_table_and_the_gpu_agree_bit_for_bit(form):
    found = both(form)
    if found is None:
        pytest.skip(f"the driver does not know {form}")
    sources, ours, device = found
    for mine, theirs in zip(ours, device, strict=True):
        lanes = differing(form, mine, theirs)
        assert not lanes.any(), explain(form, sources, mine, theirs, lanes)


@pytest.mark.parametrize("form", CLOSE)
def test_approximations_stay_within_the_manuals_error(form):
    found = both(form)
    if found is None:
        pytest.skip(f"the driver does not know {form}")
    sources, (ours,), (device,) = found
    lanes = ~(errors(form, ours, device) <= CLOSE[form])
    assert not lanes.any(), explain(form, sources, ours, device, lanes)
