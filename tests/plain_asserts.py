"""Imported first: pytest leaves the asserts of ``course_utils`` as they are.

It rewrites those of each package that has a plugin of pytest, so that a failing one shows its
values. Ours has one, and 500 modules without a test. On a fresh clone every worker would parse and
compile each of them once more, and a test's own processes then compile them again.
"""

import sys

for _hook in sys.meta_path:
    getattr(_hook, "_must_rewrite", set()).discard("course_utils")
    getattr(_hook, "_marked_for_rewrite_cache", {}).clear()
