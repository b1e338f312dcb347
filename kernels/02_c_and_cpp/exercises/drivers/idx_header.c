// Writes the bytes that it reads (in hexadecimal) to a file, and prints the header found there.

#include <stdio.h>

struct Plain { int type, dimensions; unsigned size[4]; };

int try_read_header(FILE *file, struct Plain *header);

int main(void)
{
    FILE *file = fopen("header.idx", "wb+");
    unsigned byte;
    if (file == NULL) return 1;
    while (scanf("%x", &byte) == 1) fputc((int)byte, file);
    rewind(file);
    struct Plain header = {0};
    const int code = try_read_header(file, &header);
    if (code != 0) {
        printf("%s", code == -1 ? "no header\n" : "neither 0 nor -1 is returned\n");
    } else {
        printf("type 0x%02x, %d dimensions:", header.type, header.dimensions);
        for (int i = 0; i < header.dimensions && i < 4; ++i) printf(" %u", header.size[i]);
        printf("\n");
    }
    fclose(file);
    return 0;
}
