from course_utils.benchmarks.tools import prove_blackwell

QUOTES = {"runs every kernel twenty times at each": lambda: prove_blackwell.REPEATS}
