// Writes the bytes that it reads (in hexadecimal) to a file, and prints the header found there, twice
// if it is another one when the same file is read again.

#include <stdio.h>
#include <string.h>

struct Plain { int type, dimensions; unsigned size[4]; };

int try_read_header(FILE *file, struct Plain *header);

static void show(int code, const struct Plain *header)
{
    if (code != 0) {
        printf("%s", code == -1 ? "no header\n" : "neither 0 nor -1 is returned\n");
        return;
    }
    printf("type 0x%02x, %d dimensions:", header->type, header->dimensions);
    for (int i = 0; i < header->dimensions && i < 4; ++i) printf(" %u", header->size[i]);
    printf("\n");
}

int main(void)
{
    FILE *file = fopen("header.idx", "wb+");
    unsigned byte;
    if (file == NULL) return 1;
    while (scanf("%x", &byte) == 1) fputc((int)byte, file);
    rewind(file);
    struct Plain header = {0}, again = {0};
    const int code = try_read_header(file, &header);
    show(code, &header);
    rewind(file);
    const int code_again = try_read_header(file, &again);
    if (code_again != code || (code == 0 && memcmp(&header, &again, sizeof header))) {
        printf("and read again: ");
        show(code_again, &again);
    }
    fclose(file);
    return 0;
}
