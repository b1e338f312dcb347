// The header of an IDX file: two bytes 0, a byte that names the type, a byte with the number of
// dimensions, 1 to 4, and then each dimension as four bytes, the most significant first.
// main writes the bytes that it reads (in hexadecimal) to a file, and opens it again.

#include <stdint.h>
#include <stdio.h>

struct Header {
    int type, dimensions;
    uint32_t size[4];
};

// 0 where the header was read, -1 where the file does not begin with a whole one.
int read_header(FILE *file, struct Header *header)
{
    // TODO: read the first four bytes with fread and check them, then each dimension
    // STARTER
    //| return -1;
    // SOLUTION
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, file) != 4 || bytes[0] != 0 || bytes[1] != 0) return -1;
    if (bytes[3] < 1 || bytes[3] > 4) return -1;
    header->type = bytes[2];
    header->dimensions = bytes[3];
    for (int i = 0; i < header->dimensions; ++i) {
        if (fread(bytes, 1, 4, file) != 4) return -1;
        header->size[i] = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                          (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
    }
    return 0;
    // END
}

int main(void)
{
    FILE *file = fopen("header.idx", "wb+");
    unsigned byte;
    while (scanf("%x", &byte) == 1) fputc((int)byte, file);
    rewind(file);
    struct Header header = {0};
    if (read_header(file, &header) != 0) {
        printf("no header\n");
    } else {
        printf("type 0x%02x, %d dimensions:", header.type, header.dimensions);
        for (int i = 0; i < header.dimensions; ++i) printf(" %u", header.size[i]);
        printf("\n");
    }
    fclose(file);
    return 0;
}
