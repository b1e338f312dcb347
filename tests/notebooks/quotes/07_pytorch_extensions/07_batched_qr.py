from tests.notebooks.drawn import DATA_SHEET

FACTS = {
    "a third of 495 TFLOP/s": DATA_SHEET,
    "256 FLOPs per clock at 1,980 MHz": "the highest clock in the records of an H200",
}
QUOTES = {"2.5 times as much as the ordinary cores": lambda: 494.7 / 3 / 66.9}
