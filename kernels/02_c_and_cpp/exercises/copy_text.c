// A copy of a string in its own memory, which the caller frees.
// main reads words and prints the copy of each.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *copy_of(const char *text)
{
    // BUG
    //| char *copy = malloc(strlen(text));
    // SOLUTION
    char *copy = malloc(strlen(text) + 1); // the zero at the end needs a place, too
    // END
    strcpy(copy, text);
    return copy;
}

int main(void)
{
    char word[80];
    while (scanf("%79s", word) == 1) {
        char *copy = copy_of(word);
        word[0] = '?'; // the copy is not the original
        printf("%s\n", copy);
        free(copy);
    }
    return 0;
}
