TRIED = "one run of eight turns on an H200, 2026-11-30, in TRIALS.md; no record"
FACTS = {
    "all three took 329 µs": TRIED,
    "takes 49 µs, about its bytes": TRIED,
    "of the bias takes 137 µs": TRIED,
    "as large as y only 71 µs": TRIED,
}
