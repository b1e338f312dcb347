from tests.notebooks.drawn import DATA_SHEET

FACTS = {"67 TFLOP/s and 4.8 TB/s": DATA_SHEET}
GIVEN = (
    "The same product 20 times on a GPU",
    "0 times NaN is NaN",
)
