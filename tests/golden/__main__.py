"""Draw the golden files anew: ``python -m tests.golden``."""

from . import answers, verdicts

verdicts.FILE.write_text(verdicts.render(), encoding="utf-8")
answers.FILE.write_text(answers.render(), encoding="utf-8")
