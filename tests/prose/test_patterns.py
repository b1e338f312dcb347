"""Each pattern finds the phrase that it's about, and leaves a plain sentence alone."""

import pytest

from tests.prose.patterns import PATTERNS, matches, phrases

# Pattern: a sentence in which it counts once, and a sentence in which it doesn't.
EXAMPLES = {
    "the one … the other": (
        "The one waits while the other copies.",
        "The one warp that is left stores its sum.",
    ),
    "what": ("The block stores what it has.", "What does the block store? Whatever fits."),
    "lies, stands": ("The tile lies in shared memory.", "The reader understands the layout."),
    "behind": ("The load is behind the barrier.", "The load comes after the barrier."),
    "in front of": ("A zero in front of the row.", "The front of the queue."),
    "in place of": ("A shuffle in place of a barrier.", "It reverses the array in place."),
    "of its own": ("Each warp has a tile of its own.", "Each warp has its own tile."),
    "mend": ("The next run mends the file.", "We recommend the next run."),
    "nobody, whoever": ("Nobody waits for warp 3.", "No warp waits for warp 3."),
    "that of": ("Its time is near that of cuBLAS.", "We know that off by one is common."),
    "for each … a": ("There is for each warp a row.", "There is a row for each warp."),
    "also where": ("It holds also where n is 0.", "It also holds if n is 0."),
    "whole number": ("Pass a whole number.", "Pass an integer. The whole tile."),
    "tells, announces, gives back": (
        "It tells the barrier.",
        "It signals the barrier.",
    ),
    "times as": ("It is three times as fast.", "It's 3 times faster, several times as a rule."),
    "shall": ("The kernel shall add two arrays.", "Add two arrays. A shallow copy."),
    "belongs into, belongs here": ("At most 8 belong here.", "The row belongs to warp 3."),
    "is no": (
        "A warp is no reader of this.",
        "There is no block, a tile is no longer free, and 3 is no more than 4.",
    ),
    "anew": ("Draw the file anew.", "Redraw the file."),
    "for ever": ("The loop runs for ever.", "The loop runs forever, for every row."),
    "semicolon": ("The load is issued; it completes later.", "The load is issued, and completes."),
    "too at the end": (
        "The last block stores, too.",
        "The last block stores too early.",
    ),
    "a statement that starts with Who or What": (
        "What is refused is named.",
        "What is refused? Bad input is.",
    ),
    "a heading that names the genre": ("# Why it matters", "# Padding removes the conflict"),
    "a long aside in brackets": (
        "A warp (which has thirty-two lanes that run together) stores.",
        "A warp (32 lanes that run together) stores.",
    ),
    "a second colon in a paragraph": (
        "Two steps: load and store. One rule:\nthe order stays.",
        "Two steps: load and store.\n\nOne rule: the order stays. At 10:30.\n- an item: this",
    ),
}


def counted(text: str) -> list[str]:
    return [pattern.name for pattern, _ in matches(text)]


def test_every_pattern_has_an_example():
    assert [pattern.name for pattern in PATTERNS] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_phrase_counts_and_a_plain_sentence_does_not(name):
    counts, plain = EXAMPLES[name]
    assert counted(counts).count(name) == 1
    assert counted(plain) == []


def test_words_count_inside_a_passage_that_counts():
    text = "What lies behind (the barrier that all of the threads wait at) is read."
    assert sorted(counted(text)) == [
        "a long aside in brackets",
        "a statement that starts with Who or What",
        "behind",
        "lies, stands",
    ]


def test_colons_are_free_in_comments_and_messages():
    text = "y = a x: saxpy. The idea: one load.\nAny grid."
    assert [p.name for p, _ in matches(text, of_page=False)] == []
    assert counted(text) == ["a second colon in a paragraph"]


def test_a_phrase_is_shown_with_its_sentence_and_line():
    text = "One block.\nEach thread reads one element of x. It stores\nwhat it has\nread to y at i."
    [phrase] = phrases(text)
    assert (phrase.words, phrase.line) == ("It stores what it has read to", 2)
