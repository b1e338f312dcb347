from tests.notebooks.drawn import DATA_SHEET

FACTS = {
    "tenths of 989 TFLOP/s": DATA_SHEET,
    "had 387 TFLOP/s in its first": "the ablation of 2026-11-23 on the H200, in the history",
}
GIVEN = ("so 2.5 times the FLOPs",)
