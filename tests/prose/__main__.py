"""The budget of phrases: shows a page's, and lowers what is too high. It raises none.

python -m tests.prose                     lower every budget to its page's count
python -m tests.prose --moved OLD NEW     the same, after text of OLD has moved to NEW
python -m tests.prose PAGE ...            all phrases of these pages that count
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from course_utils.paths import ROOT
from tests.prose.budget import (
    found_again,
    lowered,
    read_budgets,
    read_page,
    read_pages,
    report,
    shown,
    too_high,
    with_moved,
    write_budgets,
)
from tests.prose.pages import words


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.prose", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--moved", nargs=2, action="append", default=[], metavar=("OLD", "NEW"))
    options = parser.parse_args(arguments)
    if options.pages:
        return show(options.pages)
    return lower(options.moved)


def show(names: list[str]) -> int:
    for name in names:
        path = Path(name).resolve()
        page = read_page(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for place in page.places():
            print(shown(*place))
        size = max(1, words(page.texts))
        rate = 1000 * page.count / size
        print(f"{page.name}: {page.count} in {size:,} words, {rate:.1f} per 1,000")
    return 0


def lower(moved: list[list[str]]) -> int:
    pages, budgets = read_pages(ROOT), read_budgets()
    known = found_again(pages, budgets)
    try:
        for old, new in moved:
            known = with_moved(pages, known, old, new)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    above = too_high(pages, known)
    for page in above:
        print(report(page, known, ROOT), file=sys.stderr)
    after = lowered(pages, known)
    write_budgets(after)
    print(f"{len(pages):,} pages; budgets: {sum(budgets.values()):,} → {sum(after.values()):,}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
