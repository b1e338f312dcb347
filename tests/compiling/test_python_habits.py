"""What a Python programmer writes by habit is named, and good C++ is left alone."""

import pytest

from course_utils.compiling.python_habits import python_habits
from course_utils.paths import KERNELS

# A line, the habit's name, and whether the compiler refused it or its results are wrong.
REFUSED, WRONG = True, False
HABITS = {
    "float y = x ** 2;": ("power", WRONG),
    "y[i, j] = 1.0f;": ("index of two dimensions", WRONG),
    "y[next[i], f(j)] = 1.0f;": ("index of two dimensions", WRONG),
    "if (0 <= i < n) {": ("chained comparison", WRONG),
    "    __syncthreads;": ("no call", WRONG),
    "int half = n // 2;": ("floor division", WRONG),
    "for (int k = 0; k < n // 2; ++k) {": ("floor division", WRONG),
    "elif (i > n) {": ("elif", REFUSED),
    "bool done = False;": ("constant", REFUSED),
    "if (p == None) {": ("constant", REFUSED),
    "print(i);": ("print", REFUSED),
    "y[i] = x^2;": ("xor", WRONG),
    "int d = 2 ^ k;": ("xor", WRONG),
    "int d = 2^step;": ("xor", WRONG),
    "value = left if left > value else value;": ("conditional expression", REFUSED),
    "return a if a > b else b": ("conditional expression", REFUSED),
    "for (x in values) {": ("for in", REFUSED),
    "for (d in [1, 2, 4, 8, 16]) {": ("for in", REFUSED),
    "for i in range(n):": ("for in", REFUSED),
    "for (int i in range(n)) {": ("for in", REFUSED),
    "if x:": ("colon", REFUSED),
    "if lane >= d: value = max(value, left);": ("colon", REFUSED),
    "if (lane >= d):": ("colon", REFUSED),
    "while True:": ("colon", REFUSED),
    "else:": ("colon", REFUSED),
    "if lane >= d {": ("no parentheses", REFUSED),
    "while k < n": ("no parentheses", REFUSED),
    "# a comment": ("comment", REFUSED),
    "x[i] = 1;  # a comment": ("comment", REFUSED),
    "def f(x):": ("definition", REFUSED),
    "import numpy as np": ("definition", REFUSED),
    "pass": ("pass", REFUSED),
    "int n = len(x);": ("length", REFUSED),
    "auto r = range(n);": ("range", REFUSED),
    'printf(f"{i}");': ("f-string", REFUSED),
    "printf('hello');": ("single quotes", REFUSED),
    "y = x[1:n];": ("slice", REFUSED),
    "if (p is not q) {": ("identity", REFUSED),
    "if (k not in seen) {": ("identity", REFUSED),
    "total = 0;": ("no type", REFUSED),
    "x[i], x[j] = x[j], x[i];": ("swap", WRONG),
}


@pytest.mark.parametrize("line", HABITS)
def test_a_habit_is_named_with_its_line(line):
    name, refused = HABITS[line]
    (remark,) = python_habits(f"// a comment\n{line}\n", refused=refused)
    assert (remark.line, remark.habit) == (2, name)


LEGITIMATE = (
    "float** rows, *row = *rows;",
    "__syncthreads();  // what the step before wrote; is there",
    "auto swap = [&a, &b] { f(a, b); };",
    "const auto [row, column] = where(v);",
    "auto const [row, column] = where(v);",
    "return [f, g](auto x) { return g(f(x)); };",
    "const bool inside = 0 <= i && i < n;",
    "atomicAdd(&own[digit_of(key[k], byte)], 1);",
    "int partner = lane ^ 16;",
    "int other = threadIdx.x ^ 2;",
    "int partner = lane ^ 2;",
    "int flipped = a ^ b;",
    "// a ** b, a[i, j], True",
    'printf("%d, %d", True_i, lenient(1));',
    "if (a and not b or c) { x[0] = 1; }",
    "if constexpr (kWide) x[i] = 1; else x[i] = 2;",
    "for (int d : {1, 2, 4}) sum += d;",
    "int v = a < b ? a : b;",
    "switch (k) { case 1: break; default: break; }",
    "#pragma unroll",
    "# define WIDE 1",
    "#include <cuda_fp16.h>",
    "long big = 1'000'000;",
    "char letter = 'a', zero = '\\0';",
    "x[c ? i : j] = mine::value[0];",
    "int a = 1, b = 2;",
    "spans.print(); size_t n = view.len();",
)


@pytest.mark.parametrize("refused", [REFUSED, WRONG])
@pytest.mark.parametrize("line", LEGITIMATE)
def test_good_code_is_left_alone(line, refused):
    assert not python_habits(line, refused=refused)


def test_words_for_operators_are_good_in_cpp_and_not_in_c():
    line = "if (a and not b) {"
    assert not python_habits(line, refused=True)
    assert [found.habit for found in python_habits(line, refused=True, in_c=True)] == [
        "logical word"
    ]


@pytest.mark.parametrize("head", ["if (i < n)", "for (int k = 0; k < n; ++k)", "while (k)", "else"])
def test_two_statements_that_are_only_indented_are_a_silent_mistake(head):
    source = f"    {head}\n        x[i] = 1;\n        y[i] = 2;\n"
    assert [(found.line, found.habit) for found in python_habits(source)] == [(1, "indentation")]
    assert not python_habits(source, refused=True)
    assert not python_habits(source.replace("        y", "    y"))
    assert not python_habits(source.replace("\n        x", " {\n        x"))


def test_a_type_is_missing_only_where_a_name_is_new():
    assert not python_habits("int total;\ntotal = 0;", refused=True)
    assert not python_habits("enum {\n    FIRST = 0,\n    LAST = 1\n};", refused=True)
    assert not python_habits("const int a = 1,\n    b = 2;", refused=True)


def test_a_line_of_four_hundred_characters_is_looked_at_and_a_longer_one_is_not():
    habit = "    int x = a[i, j];"
    assert python_habits(habit.rjust(400)) and not python_habits(habit.rjust(401))


@pytest.mark.parametrize("refused", [REFUSED, WRONG])
def test_no_kernel_of_the_course_has_such_a_habit(refused):
    files = KERNELS.rglob("*.cu*") if refused == WRONG else KERNELS.glob("0[48]*/exercises/*.cu")
    assert not [
        (file.name, found)
        for file in files
        if (found := python_habits(file.read_text(encoding="utf-8"), refused=refused))
    ]
