from course_utils.benchmarks import blackwell

QUOTES = {"runs every kernel twenty times at each": lambda: blackwell.REPEATS}
