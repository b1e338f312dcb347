"""What data sheets say of GPUs."""

from course_utils import data_sheets


def test_data_sheets_are_numbers_with_a_source():
    gpus = data_sheets()
    assert [g for g in gpus if g["kind"] == "card"] == data_sheets("card")
    assert all(g["fp32_tflops"] > 0 and g["bandwidth_gb_s"] > 0 and g["source"] for g in gpus)
    assert {g["tensor_fp16_tflops"] for g in gpus if g["year"] < 2017} == {None}
