from tests.notebooks.drawn import cause

QUOTES = {
    "together take 0.0207 ms": lambda: cause("decode", "32", "both"),
    "alone takes 0.0156 ms": lambda: cause("decode", "32", "attention"),
}
