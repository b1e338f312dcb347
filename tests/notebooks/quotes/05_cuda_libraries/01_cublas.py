FACTS = {"still takes its 5 µs there": "the last column of the table above, and two more runs"}
GIVEN = (
    "For 100 products of 0.5 µs",
    "launches of 3 µs",
    "the loop takes 300 µs",
    "the batched call 50 µs",
)  # the example of a task
