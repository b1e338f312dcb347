"""How many phrases that count each page may have: a number that only goes down."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from course_utils import ceil_div
from tests.prose.pages import Text, page_files, prose, words
from tests.prose.patterns import Phrase, matches, phrases

FILE = Path(__file__).with_name("budget.json")
PER_THOUSAND_WORDS = 8  # of a new page, at most
WELL_WRITTEN = 4  # per 1,000 words: books that people love have as many, so these never count
SLACK = 3  # so many fewer phrases than its budget, and a page's budget is to be lowered
SHOWN = 20

Budgets = dict[str, int]


@dataclass(frozen=True)
class Page:
    """A page's prose, and how many of its phrases count."""

    name: str
    texts: list[Text]
    count: int = field(init=False)

    def __post_init__(self) -> None:
        found = sum(1 for text in self.texts for _ in matches(text.text, self.is_markdown))
        object.__setattr__(self, "count", found)

    @property
    def is_markdown(self) -> bool:
        return self.name.endswith((".md", ".ipynb"))

    def allowance(self) -> int:
        """How many phrases a new page of this length may have."""
        return ceil_div(PER_THOUSAND_WORDS * words(self.texts), 1000)

    def places(self) -> Iterator[tuple[str, Phrase]]:
        """Where each phrase is, as ``name:line`` or ``name, cell 3, line 1``."""
        for text in self.texts:
            for phrase in phrases(text.text, self.is_markdown):
                line = text.line + phrase.line
                cell = "" if text.cell is None else f", cell {text.cell}, line "
                yield f"{self.name}{cell or ':'}{line}", phrase


def read_page(name: str, source: str) -> Page:
    return Page(name, prose(name, source))


def read_pages(root: Path, without: Iterable[Path] = ()) -> dict[str, Page]:
    """Every page below ``root``, by its name there."""
    left_out = set(without)
    names = {file.relative_to(root).as_posix(): file for file in page_files(root)}
    return {
        name: read_page(name, file.read_text(encoding="utf-8"))
        for name, file in names.items()
        if file not in left_out
    }


def read_budgets(file: Path = FILE) -> Budgets:
    folders = json.loads(file.read_text(encoding="utf-8"))
    return {
        (PurePosixPath(folder) / name).as_posix(): budget
        for folder, files in folders.items()
        for name, budget in files.items()
    }


def write_budgets(budgets: Budgets, file: Path = FILE) -> None:
    folders: dict[str, Budgets] = {}
    for path in sorted(map(PurePosixPath, budgets)):
        folders.setdefault(path.parent.as_posix(), {})[path.name] = budgets[path.as_posix()]
    file.write_text(json.dumps(dict(sorted(folders.items())), indent=1) + "\n", encoding="utf-8")


def found_again(pages: Mapping[str, Page], budgets: Budgets) -> Budgets:
    """The budgets with those of moved files under their new names, where a file's name shows it:
    one page of this name has no budget, and one budget of this name no page."""
    new = Counter(PurePosixPath(name).name for name in pages.keys() - budgets.keys())
    gone = Counter(PurePosixPath(name).name for name in budgets.keys() - pages.keys())
    moved = {}
    for name in pages.keys() - budgets.keys():
        leaf = PurePosixPath(name).name
        if new[leaf] == gone[leaf] == 1:
            moved[leaf] = name
    return {
        name if name in pages else moved.get(PurePosixPath(name).name, name): number
        for name, number in budgets.items()
    }


def budget(page: Page, known: Budgets) -> int:
    """What a page may have; ``known`` here and below are the budgets that ``found_again`` gives."""
    if page.name not in known:
        return page.allowance()
    return max(known[page.name], WELL_WRITTEN * words(page.texts) // 1000)


def too_high(pages: Mapping[str, Page], known: Budgets) -> list[Page]:
    """The pages that have more phrases than they may."""
    return [page for page in pages.values() if page.count > budget(page, known)]


def to_lower(pages: Mapping[str, Page], known: Budgets) -> list[Page]:
    """The pages that have far fewer phrases than they may."""
    return [page for page in pages.values() if known.get(page.name, 0) > page.count + SLACK]


def lowered(pages: Mapping[str, Page], known: Budgets) -> Budgets:
    """The budgets of the pages that there are, each as low as its count and never higher. A new
    page gets one if it has no more phrases than a new page may."""
    return {
        page.name: min(page.count, known.get(page.name, page.allowance()))
        for page in pages.values()
        if page.name in known or page.count <= page.allowance()
    }


def with_moved(pages: Mapping[str, Page], known: Budgets, old: str, new: str) -> Budgets:
    """The budgets after text of the page ``old`` has moved to ``new``, which has no budget yet. The
    sum stays. Raises ValueError where a budget or a page isn't as this says."""
    if new not in pages or new in known:
        raise ValueError(f"{new} has to be a page that has no budget yet")
    if old not in known:
        raise ValueError(f"{old} has no budget in {FILE.name}")
    carried = min(pages[new].count, known[old])
    left = {old: known[old] - carried} if old in pages else {}
    return {**{name: n for name, n in known.items() if name != old}, **left, new: carried}


def report(page: Page, known: Budgets, root: Path) -> str:
    """How far a page is above its budget, and the phrases to rewrite: those that its last change
    brought if git knows it, otherwise all."""
    before = Counter(map(_key, _earlier(root, page.name).places()))
    everything = list(page.places())
    new = []
    for place in everything:
        before[_key(place)] -= 1
        if before[_key(place)] < 0:
            new.append(place)
    listed = new or everything
    may, why = budget(page, known), "its budget"
    if page.name not in known:
        why = f"a new page has {PER_THOUSAND_WORDS} per 1,000 words"
    lines = [f"{page.name}: {page.count} phrases that count, of {may} ({why})"]
    lines += [f"  {shown(*place)}" for place in listed[:SHOWN]]
    if len(listed) > SHOWN:
        lines.append(f"  and {len(listed) - SHOWN} more: python -m tests.prose {page.name}")
    return "\n".join(lines)


def shown(place: str, phrase: Phrase) -> str:
    """A phrase with its place, its pattern and the advice, in one line."""
    return f"{place}: “{phrase.words}” ({phrase.pattern.name}; write: {phrase.pattern.instead})"


def _key(place: tuple[str, Phrase]) -> tuple[str, str]:
    return place[1].pattern.name, place[1].words


def _earlier(root: Path, name: str) -> Page:
    """A page before its last change, committed or not; an empty one if git has none."""
    source = _git(root, "show", f"HEAD:./{name}")
    if source == (root / name).read_text(encoding="utf-8"):
        commits = _git(root, "log", "-2", "--format=%H", "--", name).split()
        source = _git(root, "show", f"{commits[1]}:./{name}") if len(commits) == 2 else ""
    return read_page(name, source)


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing where there is no git or no repository."""
    try:
        ran = subprocess.run(["git", *arguments], cwd=root, capture_output=True)
    except OSError:
        return ""
    return ran.stdout.decode("utf-8", "replace")
