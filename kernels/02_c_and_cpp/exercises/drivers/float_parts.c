// Prints the parts of the floats that it reads.

#include <stdint.h>
#include <stdio.h>

void try_parts_of(float value, uint32_t parts[3]);

int main(void)
{
    float value;
    while (scanf("%f", &value) == 1) {
        uint32_t parts[3];
        try_parts_of(value, parts);
        printf("%u %u 0x%06x\n", parts[0], parts[1], parts[2]);
    }
    return 0;
}
