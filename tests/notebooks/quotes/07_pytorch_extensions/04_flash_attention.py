from tests.notebooks.drawn import DATA_SHEET

FACTS = {
    "tenths of 989 TFLOP/s": DATA_SHEET,
    "their peak for TF32 is 165 TFLOP/s, beside 67": DATA_SHEET,
}
GIVEN = (
    "so 2.5 times the FLOPs",
    "not thirteen times faster, as 165 TFLOP/s would be",
)
