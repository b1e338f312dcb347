from tests.notebooks.drawn import DATA_SHEET

FACTS = {"tenths of 989 TFLOP/s": DATA_SHEET}
GIVEN = ("so 2.5 times the FLOPs",)
