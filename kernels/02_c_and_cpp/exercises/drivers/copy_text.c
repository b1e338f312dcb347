// Prints copies of an empty text, of a sentence and of the words that it reads, in brackets. All
// copies are made before the first is printed, and what they were made of is overwritten by then.
// A text of all characters but the zero is copied too, and compared.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *try_copy_of(const char *text);

enum { MOST = 20, LONGEST = 70000 };

int main(void)
{
    static char word[LONGEST + 1];
    char *copies[MOST] = {NULL};
    int n = 0;
    copies[n++] = try_copy_of("");
    strcpy(word, "  two words, a\ttab,\n 100 %d and \xc3\xa9\t ");
    copies[n++] = try_copy_of(word);
    memset(word, '?', LONGEST);
    while (n < MOST && scanf("%70000s", word) == 1) {
        copies[n++] = try_copy_of(word);
        memset(word, '?', LONGEST);
    }
    for (int i = 0; i < 255; ++i) word[i] = (char)(i + 1);
    word[255] = 0;
    char *all = try_copy_of(word);
    for (int i = 0; all != NULL && i < 256; ++i) {
        if (word[i] != (char)(i + 1)) printf("the text itself is changed\n");
        if (all[i] == (char)(i + 1)) continue;
        printf("the character %d is copied as %d\n", (i + 1) % 256, (unsigned char)all[i]);
        break;
    }
    free(all);
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
