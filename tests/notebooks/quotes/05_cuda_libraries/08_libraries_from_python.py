from tests.notebooks.drawn import DATA_SHEET

FACTS = {"about fifteen times faster": DATA_SHEET}
GIVEN = ("in steps 128 times smaller", "Each further slice is 128 times what is left over")
