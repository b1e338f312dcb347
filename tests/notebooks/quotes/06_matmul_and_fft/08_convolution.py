FACTS = {
    "2.25 times": "36 products over 16, as the notebook prints",
    "13 times as many": "11 × 11 taps over 3 × 3",
}
