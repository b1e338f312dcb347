from tests.notebooks.drawn import DATA_SHEET

FACTS = {"An H200's says 4.8 TB/s": DATA_SHEET}
