from tests.notebooks.drawn import DATA_SHEET

FACTS = {"4.8 TB/s is what the H200's data sheet": DATA_SHEET}
GIVEN = (
    "stand four bits higher and count 16 times",
    "A tensor has a few numbers 40 times as large",
    "and there are 16 times as many products",
)
