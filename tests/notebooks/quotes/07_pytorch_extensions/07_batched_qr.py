from tests.notebooks.drawn import DATA_SHEET

FACTS = {"a third of 495 TFLOP/s": DATA_SHEET}
QUOTES = {"2.5 times as much as the ordinary cores": lambda: 494.7 / 3 / 66.9}
