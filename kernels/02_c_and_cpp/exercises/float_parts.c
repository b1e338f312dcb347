// The three parts of a float's 32 bits: 1 bit of sign at the top, then 8 of the exponent, then 23 of
// the fraction. main reads floats and prints the parts of each.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct Parts { uint32_t sign, exponent, fraction; };

struct Parts parts_of(float value)
{
    struct Parts parts = {0, 0, 0};
    // TODO: copy the bits of value, unchanged, into a uint32_t with memcpy, and take them apart
    //       with >> and &
    // SOLUTION
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    parts.sign = bits >> 31;
    parts.exponent = (bits >> 23) & 0xff;
    parts.fraction = bits & 0x7fffff;
    // END
    return parts;
}

int main(void)
{
    float value;
    while (scanf("%f", &value) == 1) {
        struct Parts parts = parts_of(value);
        printf("%u %u 0x%06x\n", parts.sign, parts.exponent, parts.fraction);
    }
    return 0;
}
