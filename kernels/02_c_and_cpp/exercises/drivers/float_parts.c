// Prints the parts of the floats that it reads: numbers, or after a # the bits in hexadecimal.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void try_parts_of(float value, uint32_t parts[3]);

int main(void)
{
    char word[100];
    while (scanf("%99s", word) == 1) {
        float value = strtof(word, NULL);
        const uint32_t bits = (uint32_t)strtoul(word + 1, NULL, 16);
        if (word[0] == '#') memcpy(&value, &bits, sizeof value);
        uint32_t parts[3];
        try_parts_of(value, parts);
        printf("%u %u 0x%06x\n", parts[0], parts[1], parts[2]);
    }
    return 0;
}
