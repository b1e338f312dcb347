// Prints copies of an empty text, of a sentence and of the words that it reads, in brackets. All
// copies are made before the first is printed, and what they were made of is overwritten by then.
// Each character but the zero is copied too, first and last in a text, and compared.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *try_copy_of(const char *text);

static void *empty; // the last block of 0 bytes

static void *noted(void *block, size_t bytes)
{
    if (bytes == 0) empty = block;
    return block;
}

void *noted_malloc(size_t bytes) { return noted(malloc(bytes), bytes); }
void *noted_calloc(size_t n, size_t bytes) { return noted(calloc(n, bytes), n * bytes); }

enum { MOST = 20, LONGEST = 70000 };

int main(void)
{
    static char word[LONGEST + 1];
    char *copies[MOST] = {NULL};
    int n = 0;
    const char nothing[] = "";
    copies[n++] = try_copy_of(nothing);
    if (empty != NULL && copies[0] == empty) {
        printf("the copy of an empty text is a block of 0 bytes, expected 1, for the zero\n");
    }
    strcpy(word, "  two words, a\ttab,\n 100 %d and \xc3\xa9\t ");
    copies[n++] = try_copy_of(word);
    memset(word, '?', LONGEST);
    while (n < MOST && scanf("%70000s", word) == 1) {
        copies[n++] = try_copy_of(word);
        memset(word, '?', LONGEST);
    }
    for (int c = 1; c < 256; ++c) {
        const char kept[] = {(char)c, 'x', (char)c, 0};
        char text[] = {(char)c, 'x', (char)c, 0}, *copy = try_copy_of(text);
        if (copy == NULL || strcmp(copy, kept)) {
            printf("character %d at an end of a text is lost or changed, expected the same\n", c);
        }
        if (strcmp(text, kept)) printf("the text itself is changed, expected as before\n");
        free(copy);
    }
    for (int i = 0; i < n; ++i) {
        if (copies[i] == NULL) {
            printf("the copy is NULL\n");
            return 0;
        }
        printf("[%s]\n", copies[i]);
    }
    for (int i = 0; i < n; ++i) free(copies[i]);
    return 0;
}
