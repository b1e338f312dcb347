"""Phrases that make English read like a translation, and how to write instead.

Each comes from a rule of the course's voice: the subject is the thing, the verb is what it does,
and the field's word comes first. A phrase that counts isn't always wrong, so a page has a budget of
them: README.md in tests/ says how it works.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Pattern:
    """One kind of phrase: an expression that finds it, and the advice for its author."""

    name: str
    expression: str
    instead: str
    only_pages: bool = False  # not in comments and messages, whose lines are often lists


# On to the end of the paragraph, or of the sentence: through wrapped lines, not into a list.
_LINE_BREAK = r"\n(?!\s*(?:\n|[-*#|>]|\d+\.\s))"
_SENTENCE_END = r"\n\s*\n|(?<=[.?!])\s"
_SENTENCE = rf"(?:[^.?!\n]|{_LINE_BREAK})"

_COMPARATIVE = r"more|less|worse|(?:bett|easi|fast|few|high|larg|long|low|slow|small)er|\w+er than"

# Whole words, of which no two count at the same place.
WORDS = (
    Pattern("the one … the other", rf"[Tt]he one\b{_SENTENCE}*?\bthe other", "repeat the nouns"),
    Pattern("what", "what", "name the thing that it is"),
    Pattern("lies, stands", "lies?|stands?|stood", "data is in memory, a term appears in code"),
    Pattern("behind", "[Bb]ehind", "after, below, past"),
    Pattern("in front of", "[Ii]n front of", "before"),
    Pattern("in place of", "[Ii]n place of", "instead of"),
    Pattern("of its own", "of (?:its|their|his|your|our) own", "its own X"),
    Pattern("mend", "[Mm]end(?:s|ed|ing)?", "fix"),
    Pattern(
        "nobody, whoever",
        "[Nn]obody|[Ss]omebody|[Ww]hoever|[Nn]o one",
        "name the thread, the reader",
    ),
    Pattern("that of", "(?:[Tt]hat|[Tt]hose) of", "repeat the noun"),
    Pattern("for each … a", r"[Ff]or each \w+ (?:an?|one)", "per"),
    Pattern("also where", "[Aa]lso (?:where|when)", "even if"),
    Pattern("whole number", "[Ww]hole numbers?", "integer"),
    Pattern(
        "tells, announces, gives back",
        "[Tt]ells?|told|announce[sd]?|announcing|g[ia]ve[sn]? back",
        "arrives, signals, expects, shows, frees",
    ),
    Pattern(
        "times as", r"(?:thirds?|quarters?|times) as (?!an?\b|it\b|they\b)\w+", "2.7 times faster"
    ),
    Pattern("shall", "[Ss]hall", "must, should, or an order: “Write …”"),
    Pattern("belongs into, belongs here", "[Bb]elongs? (?:into|here)", "goes in; the limit is 8"),
    Pattern(
        "is no",
        rf"(?<!\b[Tt]here )(?:is|are) no (?!(?:{_COMPARATIVE}|one)\b)\w+",
        "is not a, isn't",
    ),
    Pattern("anew", "[Aa]new", "again, or re- with the verb"),
    Pattern("for ever", "[Ff]or ever", "forever, without end, endlessly"),
)
# Marks, and whole passages, which may have words that count in them.
STRUCTURES = (
    Pattern("semicolon", ";", "two sentences, or “and”"),
    Pattern("too at the end", r",\stoo\b", "also, before the verb"),
    Pattern(
        "a statement that starts with Who or What",
        rf"\b(?:Who|Whoever|What)\b{_SENTENCE}*\.",
        "start with the thing: “The barrier …”, “If your matrices …”",
    ),
    Pattern(
        "a heading that names the genre",
        r"(?m)^#+ (?:Why it matters|Introduction|Background|Summary|Conclusion)$",
        "name the idea: “Padding removes the conflict”",
    ),
    Pattern(
        "a long aside in brackets",
        r"\((?:[^()\s]+\s+){6,}[^()\s]+\)",
        "at most six words, or its own sentence",
    ),
    Pattern(
        "a second colon in a paragraph",
        rf"(?<=:\s)(?:[^:\n]|{_LINE_BREAK}|:(?!\s))*:(?=\s+[^\s\-*|>])",
        "one colon a paragraph",
        only_pages=True,
    ),
)
PATTERNS = (*WORDS, *STRUCTURES)

_ANY_WORD = re.compile(
    rf"\b(?:{'|'.join(f'(?P<_{n}>{word.expression})' for n, word in enumerate(WORDS))})\b"
)
_STRUCTURES = [(pattern, re.compile(pattern.expression)) for pattern in STRUCTURES]


@dataclass(frozen=True)
class Phrase:
    """A phrase that counts, with a few words around it, and the line it's in, from 0."""

    pattern: Pattern
    words: str
    line: int


def matches(text: str, of_page: bool = True) -> Iterator[tuple[Pattern, re.Match[str]]]:
    """All places of ``text`` that count, where ``of_page`` says whether it's Markdown."""
    for match in _ANY_WORD.finditer(text):
        yield WORDS[int((match.lastgroup or "_0")[1:])], match
    for pattern, found in _STRUCTURES:
        if of_page or not pattern.only_pages:
            for match in found.finditer(text):
                yield pattern, match


def phrases(text: str, of_page: bool = True) -> Iterator[Phrase]:
    """The same places, as an author is shown them."""
    for pattern, match in matches(text, of_page):
        before = re.split(_SENTENCE_END, text[max(0, match.start() - 80) : match.start()])
        after = re.split(_SENTENCE_END, text[match.end() : match.end() + 80])
        left = re.findall(r"\S+\s*", before[-1])[-4:]
        right = re.findall(r"\s*\S+", after[0])[:4]
        words = " ".join("".join([*left, match.group(), *right]).split())
        shown = words if len(words) <= 80 else f"{words[:79]}…"
        yield Phrase(pattern, shown, text.count("\n", 0, match.start()))
