// CHECK(call): make a call that returns 0 for success; for any other code print the line
// "CALL failed with CODE", where CALL is the text of the call, and count it in `failures`.
// It is used like a statement: CHECK(f()); also between an if without braces and its else.

#include <stdio.h>

int failures = 0, calls = 0;

// TODO: define CHECK with do { ... } while (0); #call is the text of the argument, in quotes
// STARTER
//| #define CHECK(call) call
// SOLUTION
#define CHECK(call)                                       \
    do {                                                  \
        const int code_ = (call);                         \
        if (code_ != 0) {                                 \
            printf("%s failed with %d\n", #call, code_);  \
            ++failures;                                   \
        }                                                 \
    } while (0)
// END

int give(int code)
{
    ++calls;
    return code;
}

int main(void)
{
    int code;
    while (scanf("%d", &code) == 1) {
        if (code >= 0)
            CHECK(give(code));
        else
            CHECK(give(2 * code));
    }
    printf("%d calls, %d failures\n", calls, failures);
    return 0;
}
