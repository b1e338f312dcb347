"""``%%c`` and ``%%cpp``: whole programs, built with sanitizers and run where they do no harm."""

import os
import sys
import time

import pytest

from course_utils import c_folder as public
from course_utils import process_groups
from course_utils.checking.verdict import Verdict
from course_utils.compiling.host_compilers import host_compiler
from course_utils.errors import LessonError
from course_utils.host_programs import host_kinds as kinds
from course_utils.host_programs import program_cells
from course_utils.host_programs.building import finds_addresses
from course_utils.host_programs.program_cells import ProgramFailed, c_folder, run_cell
from tests.ended_processes import gone
from tests.machine_speed import slowness

COMPILER = host_compiler("c")
pytestmark = pytest.mark.skipif(
    COMPILER is None or host_compiler("cpp") is None, reason="needs a C and a C++ compiler"
)
needs_sanitizers = pytest.mark.skipif(
    COMPILER is None or not finds_addresses(COMPILER), reason="needs AddressSanitizer"
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Kept files of each test, and its temporary ones, in a folder with a blank and an umlaut."""
    place = tmp_path / "für alle"
    kept = place / "kept"
    kept.mkdir(parents=True)
    monkeypatch.setattr(program_cells, "c_folder", lambda: kept)
    monkeypatch.setattr(program_cells.tempfile, "tempdir", str(place))
    return kept


def main(body, before=""):
    """A program with ``body`` in main, which begins in line 8 of the cell."""
    headers = ("stdio", "stdlib", "string", "unistd", "assert")
    top = "".join(f"#include <{name}.h>\n" for name in headers)
    return f"{top}{before}int main(void) {{\n{body}\nreturn 0; }}\n"


def fault(body, kind, before="", language="c", line=""):
    """The verdict of a program that must end with that fault, as text."""
    expected = kind.replace(" ", "-")
    verdict = run_cell(language, f"expect={expected} {line}", main(body, before))
    assert isinstance(verdict, Verdict) and verdict.kind == kind
    return str(verdict)


def test_what_a_program_prints_is_shown(capsys):
    assert run_cell("c", "", main('printf("%d\\n", 6 * 7);')) is None
    assert capsys.readouterr().out == "42\n"


def test_cpp_is_compiled_as_cpp(capsys):
    run_cell("cpp", "", '#include <iostream>\nint main() { std::cout << __cplusplus << "\\n"; }')
    assert capsys.readouterr().out == "201703\n"


def test_a_warning_is_shown_with_its_line_and_the_program_runs(capsys):
    run_cell("c", "", main('int idle; puts("ran");'))
    printed = capsys.readouterr().out
    assert "the compiler warns:" in printed and "cell.c:8:" in printed and "idle" in printed
    assert "^" in printed and printed.endswith("\nran\n")


def test_an_error_names_the_line_of_the_cell_and_points_at_it():
    with pytest.raises(ProgramFailed) as failed:
        run_cell("c", "", main("int x = 1;\nx = zero;"))
    text = str(failed.value)
    assert text.startswith("COMPILE ERROR: line 9: 'zero' undeclared") or "line 9: use of" in text
    assert "x = zero;" in text and "^" in text and "Declare it before this line" in text


def test_a_forgotten_semicolon_has_its_remedy():
    with pytest.raises(ProgramFailed, match="often missing at the end of the line before"):
        run_cell("c", "", main("int x = 1\nx = 2;"))


def test_without_a_main_the_verdict_says_what_a_program_is():
    with pytest.raises(ProgramFailed, match="no definition of main") as failed:
        run_cell("c", "", "int add(int a, int b) { return a + b; }")
    assert "int main(void)" in str(failed.value) and "file=name.c" in str(failed.value)
    with pytest.raises(ProgramFailed, match="Statements belong in a function"):
        run_cell("c", "", '#include <stdio.h>\nprintf("hello\\n");')


FAULTS = {  # what main does, the verdict, and what it must say
    "read after free": (
        "int *p = malloc(12);\nfree(p);\nint v = p[1];\nexit(v == 7);",
        kinds.USE_AFTER_FREE,
        (
            "reads 4 bytes, 4 bytes into a block of 12 bytes",
            "->  10 |",
            "freed in line 9:",
            "allocated in line 8:",
        ),
    ),
    "freed twice": (
        "char *p = malloc(3);\nfree(p);\nfree(p);",
        kinds.USE_AFTER_FREE,
        ("double free", "->  10 |", "freed in line 9:"),
    ),
    "past the heap": (
        "int *p = malloc(12);\np[3] = 1;\nfree(p);",
        kinds.OUT_OF_BOUNDS,
        ("writes 4 bytes right after a block of 12 bytes", "->   9 |", "allocated in line 8:"),
    ),
    "before the heap": (
        "int *p = malloc(12);\np[-1] = 1;\nfree(p);",
        kinds.OUT_OF_BOUNDS,
        ("4 bytes before a block of 12 bytes", "->   9 |", "The index is below 0"),
    ),
    "past the stack": (
        "int a[3] = {0};\nint *p = a;\np[3] = 1;\nexit(a[0]);",
        kinds.OUT_OF_BOUNDS,
        ("writes 4 bytes after the variable a", "->  10 |"),
    ),
    "a string without room for its zero": (
        'char *p = malloc(4);\nstrcpy(p, getenv("PATH") ? "full" : "");\nputs(p);\nfree(p);',
        kinds.OUT_OF_BOUNDS,
        ("writes 5 bytes", "a block of 4 bytes", "->   9 |"),
    ),
    "an index that an array lacks": (
        "int a[3] = {0}, i = 3;\nexit(a[i]);",
        kinds.OUT_OF_BOUNDS,
        ("index 3 out of bounds", "->   9 |"),
    ),
    "leak": (
        "char *p = malloc(5);\np[0] = 1;\np = NULL;",
        kinds.MEMORY_LEAK,
        ("5 bytes are never freed", "allocated in line 8:"),
    ),
    "overflow": (
        "int x = 2147483647;\nx = x + 1;\nexit(x == 1);",
        kinds.UNDEFINED,
        ("signed integer overflow", "->   9 |", "wider type"),
    ),
    "shift": (
        "int bits = 40;\nexit((1 << bits) == 1);",
        kinds.UNDEFINED,
        ("shift exponent 40", "->   9 |", "number of bits"),
    ),
    "division": (
        "int zero = 0;\nexit(1 / zero);",
        kinds.UNDEFINED,
        ("division by zero", "Test the divisor"),
    ),
    "null": ("int *p = NULL;\n*p = 1;", kinds.NULL_POINTER, ("null pointer", "->   9 |")),
    "not from malloc": (
        "int x[2] = {0};\nint *p = x;\nfree(p + 1);",
        kinds.UNDEFINED,
        ("aren't freed",),
    ),
    "wild": ("int *p = (int *)4096;\n*(p + 1) = 1;", kinds.CRASHED, ("SEGV", "not its own")),
    "assert": ("int n = 3;\nassert(n > 4);", kinds.ASSERTION, ("n > 4 is not true", "->   9 |")),
    "abort": ("abort();", kinds.CRASHED, ("abort()",)),
    "status": ("return 3;", kinds.CRASHED, ("status 3",)),
}


@needs_sanitizers
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_lines_and_not_with_the_tool_s_report(name, capsys):
    body, kind, words = FAULTS[name]
    text = fault(body, kind)
    assert not [word for word in words if word not in text], text
    assert "Sanitizer" not in text + capsys.readouterr().out and len(text.splitlines()) < 20


@needs_sanitizers
def test_a_global_array_is_named():
    text = fault("int i = 4;\nexit(*(table + i));", kinds.OUT_OF_BOUNDS, "int table[4];\n")
    assert "right after table, which has 16 bytes" in text


@needs_sanitizers
def test_a_recursion_without_an_end_is_a_stack_overflow():
    deep = "int f(int n) { volatile char a[99]; a[0] = n; return f(n + 1) + a[0]; }\n"
    assert "have filled the stack" in fault("exit(f(0));", kinds.STACK_OVERFLOW, deep)


@needs_sanitizers
def test_cpp_faults_are_named_too():
    vector = "#include <vector>\nint main() { std::vector<int> v(3); return v[3]; }"
    assert run_cell("cpp", "expect=out-of-bounds", vector).kind == kinds.OUT_OF_BOUNDS
    thrown = "#include <vector>\nint main() { std::vector<int> v(3); return v.at(3); }"
    text = str(run_cell("cpp", "expect=crashed", thrown))
    assert "std::out_of_range is caught nowhere" in text


def test_a_fault_that_nobody_expects_is_an_error_of_the_cell():
    with pytest.raises(ProgramFailed, match="status 3"):
        run_cell("c", "", main("return 3;"))


def test_a_fault_that_does_not_come_is_an_error_of_the_cell():
    with pytest.raises(LessonError, match="take expect=crashed out of it"):
        run_cell("c", "expect=crashed", main(""))


def test_without_sanitizers_a_signal_is_explained():
    body = "int *volatile p = NULL;\n*p = 1;"
    text = fault(body, kinds.CRASHED, line="sanitize=off")
    assert "SIGSEGV" in text and "not its own" in text


def test_an_endless_program_ends_with_its_time():
    start = time.monotonic()
    text = fault("for (volatile int i = 0; i < 1;) {}", kinds.TIME_LIMIT, line="seconds=0.5")
    assert "0.5 seconds" in text and time.monotonic() - start < 15 * slowness()


def test_children_end_with_the_program(tmp_path):
    note = tmp_path / "child"
    body = f'if (fork() == 0) {{ setsid(); FILE *f = fopen("{note}", "w"); ' + (
        'fprintf(f, "%d", getpid()); fclose(f); sleep(60); }\nsleep(1);'
    )
    run_cell("c", "", main(body))
    child = int(note.read_text())
    assert gone(child, 10)


@pytest.mark.skipif(sys.platform != "linux", reason="cores are chosen on Linux")
def test_a_program_has_few_cores_so_that_it_cannot_multiply_on_all(monkeypatch, capsys):
    monkeypatch.setattr(process_groups, "CORES", 1)  # two may be all that this machine has
    counted = "cpu_set_t set; sched_getaffinity(0, sizeof set, &set);"
    body = f'usleep(200000); {counted} printf("%d", CPU_COUNT(&set));'
    run_cell("c", "", "#define _GNU_SOURCE\n#include <sched.h>\n" + main(body))
    assert capsys.readouterr().out == "1\n"


def test_a_fork_bomb_ends_in_seconds():
    start = time.monotonic()
    text = fault("for (;;) fork();", kinds.RESOURCE_LIMIT)
    assert "more than 64 processes" in text and time.monotonic() - start < 15 * slowness()


def test_a_flood_of_output_ends_and_little_of_it_is_shown(capsys):
    text = fault('for (;;) puts("a long, long line");', kinds.RESOURCE_LIMIT)
    printed = capsys.readouterr().out
    assert "64 MB" in text and len(printed) < 1000 and "which is not shown" in printed


def test_a_full_disk_is_prevented_and_nothing_of_it_is_left(own_folder):
    many = (
        "static char block[1 << 20];\nfor (int i = 0;; ++i) { char name[20]; "
        'memset(block, 1, sizeof block);\nsprintf(name, "f%d", i / 40);\n'
        'FILE *f = fopen(name, "a"); '
        "fwrite(block, 1, sizeof block, f); fclose(f); }"
    )
    assert "128 MB" in fault(many, kinds.RESOURCE_LIMIT)
    left = [file for file in own_folder.parent.rglob("*") if file.is_file()]
    assert not left


def test_memory_is_limited():
    hog = "for (;;) { char *p = malloc(1 << 24); if (p) memset(p, 1, 1 << 24); }"
    for line in ("seconds=60", "seconds=60 sanitize=off"):
        assert "1024 MB of memory" in fault(hog, kinds.RESOURCE_LIMIT, line=line)


def test_a_program_that_reads_ends_cleanly_with_a_hint(capsys):
    body = 'int x; if (scanf("%d", &x) != 1) puts("no number"); else printf("%d\\n", x + 1);'
    run_cell("c", "", main(body))
    printed = capsys.readouterr().out
    assert printed.startswith("no number\n") and 'stdin="3 4' in printed
    run_cell("c", r'stdin="41\n"', main(body))
    assert capsys.readouterr().out == "42\n"


def test_a_program_that_waits_for_input_for_ever_gets_the_hint_too(capsys):
    fault('int x; while (scanf("%d", &x) != 1) {}', kinds.TIME_LIMIT, line="seconds=0.5")
    assert "reads its input" in capsys.readouterr().out


def test_arguments_and_flags_are_passed(capsys):
    source = "#include <stdio.h>\nint main(int n, char **v) { printf(FORM, v[n - 1]); return 0; }"
    run_cell("c", """args="a 'b c'" flags='-DFORM="<%s>"'""".replace('"<%s>"', r"\"<%s>\""), source)
    assert capsys.readouterr().out == "<b c>\n"


def test_kept_files_are_compiled_with_a_later_cell(capsys):
    run_cell("c", "file=add.h", "int add(int a, int b);\n")
    run_cell("c", "file=add.c", '#include "add.h"\nint add(int a, int b) { return a + b; }\n')
    assert capsys.readouterr().out.splitlines() == [
        "kept add.h",
        "kept add.c: it compiles, and has no main to run",
    ]
    run_cell("c", "with=add.c", '#include "add.h"\n' + main('printf("%d\\n", add(2, 3));'))
    assert capsys.readouterr().out == "5\n"


def test_a_fault_in_a_kept_file_is_named_with_the_file():
    run_cell("c", "file=first.c", "int first(int *p) { return p[0]; }\n")
    text = fault("exit(first(0));", kinds.NULL_POINTER, "int first(int *p);\n", line="with=first.c")
    assert "first.c, line 2" in text and "return p[0];" in text


def test_files_that_a_program_writes_are_kept_where_asked(own_folder):
    body = 'FILE *f = fopen("out.txt", "w"); fputs("kept", f); fclose(f);'
    run_cell("c", "", main(body))
    assert not list(own_folder.iterdir())
    run_cell("c", "keep=out.txt", main(body))
    assert (own_folder / "out.txt").read_text() == "kept"
    with pytest.raises(LessonError, match="wrote no file"):
        run_cell("c", "keep=other.txt", main(""))


def test_a_program_reads_what_python_wrote_and_cannot_change_it(own_folder, capsys):
    (own_folder / "in.txt").write_text("7")
    body = (
        'FILE *f = fopen("in.txt", "r+"); putchar(fgetc(f)); rewind(f); fputc(\'8\', f); fclose(f);'
    )
    run_cell("c", "", main(body))
    assert capsys.readouterr().out.strip() == "7" and (own_folder / "in.txt").read_text() == "7"


def test_output_can_go_to_a_python_variable(capsys, monkeypatch):
    class Shell:
        user_ns: dict[str, str] = {}

    monkeypatch.setattr(program_cells, "running_shell", lambda: Shell)
    run_cell("c", "into=text", main('puts("for Python");'))
    assert Shell.user_ns == {"text": "for Python\n"} and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nope", "no such option"),
        ("seconds=long", "a number from 0 to 60"),
        ("seconds=1e9", "a number from 0 to 60"),
        ("expect=trouble", "no such fault"),
        ("file=../x.c", "no folder"),
        ("file=x.exe", "such as sum.c"),
        ("with=gone.c", "no cell has kept gone.c"),
        ("into=2x", "no name for a variable"),
        ("sanitize=perhaps", "say on or off"),
        ('args="a', "quotation mark"),
        ('args="\'a"', "a quotation mark is missing in it"),
        ('flags="\'a"', "a quotation mark is missing in it"),
        ("expect = crashed", "with no blank on either side"),
        ("seconds=1 seconds=2", "seconds is given twice"),
        ("flags=-c", "makes no program that could run"),
        ("std=c++17", "Begin the cell with %%cpp"),
        ("file=a.cpp", "Begin the cell with %%cpp"),
        ("file=-o.c", "such as sum.c"),
        ("into=class", "no name for a variable"),
        ("into=print", "hide Python's own print"),
    ],
)
def test_a_wrong_first_line_says_what_is_right(line, words):
    with pytest.raises(LessonError, match=words):
        run_cell("c", line, main(""))


def test_without_a_compiler_the_cell_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(program_cells, "host_compiler", lambda language: None)
    with pytest.raises(LessonError, match="needs a C compiler") as error:
        run_cell("c", "", main(""))
    assert "build-essential" in str(error.value) and "ziglang" in str(error.value)


def test_the_kept_folder_exists_and_is_the_same_each_time():
    assert public is c_folder and public() == public() and os.path.isdir(public())


PASTED = {  # a cell's text that the compiler refuses, and what the verdict must advise
    "Python's min": ("int main(void) { int x[2] = {1}; return min(x); }", "write a loop"),
    "a dot for an arrow": (
        "struct S { int n; }; int main(void) { struct S s = {0}, *p = &s; return p.n; }",
        "Through a pointer it's p->member",
    ),
    "no header": ("int main(void) { puts(1); return 0; }", "Include the header|Declare it before"),
    "a number for an address": (
        "int main(void) { int x = 1, *p = &x; p = x; return *p; }",
        "One side is an address",
    ),
    "two statements before else": (
        "int main(void) { int x = 1; if (x) x = 2;; else x = 3; return x; }",
        "Only one statement|expected expression",
    ),
    "a reference": ("void f(int &x) { x = 1; }\nint main(void) { return 0; }", "with %%cpp"),
    "a vector": ("#include <vector>\nint main(void) { return 0; }", "with %%cpp"),
    "a kernel": ("__global__ void k(float *x) { x[0] = 1; }\nint main(void) {}", "CUDA C++"),
    "a quotation mark of a web page": ("int main(void) { return “a”; }", "type it anew"),
    "void main": ("void main(void) {}", "int main"),
}


@pytest.mark.parametrize("name", PASTED)
def test_the_advice_fits_the_mistake(name):
    source, advice = PASTED[name]
    with pytest.raises(ProgramFailed, match=advice) as failed:
        run_cell("c", "", source)
    assert "COMPILE ERROR: line" in str(failed.value) and "-Werror" not in str(failed.value)


def test_bits_read_through_a_pointer_of_another_type_are_warned_of(capsys):
    if COMPILER.name not in ("cc", "gcc"):
        pytest.skip("gcc alone has this warning")
    run_cell("c", "", main('float f = 1;\nprintf("%x\\n", *(unsigned *)&f);'))
    assert "strict-aliasing" in capsys.readouterr().out


@needs_sanitizers
def test_a_local_variable_that_outlived_its_function_is_named():
    source = "int *f(void) { int x = 5; int *p = &x; return p; }\n"
    text = fault("exit(*f());", kinds.USE_AFTER_FREE, source)
    assert "->   9 |" in text


@needs_sanitizers
def test_an_index_below_zero_that_has_no_sign_is_out_of_bounds():
    body = "int x[3] = {1, 2, 3}, *p = x;\nsize_t i = 0;\nexit(p[i - 1]);"
    assert "->  10 |" in fault(body, kinds.OUT_OF_BOUNDS)


def test_an_error_inside_of_the_library_names_the_line_that_asked_for_it():
    program = (
        "#include <utility>\n#include <vector>\n"
        "struct Owner { Owner() {} Owner(const Owner &) = delete; };\n"
        "int main()\n{\n    std::vector<Owner> x;\n    x.push_back(Owner());\n}\n"
    )
    with pytest.raises(ProgramFailed) as failed:
        run_cell("cpp", "", program)
    text = str(failed.value)
    assert text.startswith("COMPILE ERROR: line 8: ") and "deleted" in text.splitlines()[0]
    assert "std::move" in text.splitlines()[-1] and "In file included" not in text


OWNER = """\
#include <vector>
struct Owner {
    int *data = new int[2];
    ~Owner() { delete[] data; }
};
std::vector<int> x(4);
const int &ended() { const int gone = 7; const int &r = gone; return r; }
"""


@needs_sanitizers
@pytest.mark.parametrize(
    ("body", "kind", "advice"),
    [
        ("Owner a; Owner b = a;", kinds.USE_AFTER_FREE, "was the object copied"),
        ("int &r = x[0]; x.push_back(1); return r;", kinds.USE_AFTER_FREE, "when it grows"),
        ("int *p = new int; delete p; return *p;", kinds.USE_AFTER_FREE, "After delete"),
        ("int *p = new int[2]; delete p;", kinds.UNDEFINED, "Use delete[]"),
        ("int *p = new int[2]; p = nullptr;", kinds.MEMORY_LEAK, "does a destructor do it?"),
        ("return ended();", kinds.USE_AFTER_FREE, "keep a copy"),
    ],
)
def test_the_next_step_says_what_freed_memory(body, kind, advice):
    with pytest.raises(ProgramFailed) as failed:
        run_cell("cpp", "", f"{OWNER}int main() {{ {body} }}\n")
    text = str(failed.value)
    assert text.startswith(kind.upper()) and advice in text.splitlines()[-1]
