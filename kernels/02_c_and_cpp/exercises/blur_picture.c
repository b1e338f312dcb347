// Reads a picture in the format P2 and prints it blurred. A program with main, from the empty cell.
//
// Input: the word P2, then width, height and the largest value, then width * height numbers, row by
// row. Words are separated by blanks or ends of lines. A # begins a comment, up to the end of its
// line. Width and height are from 1 to 1000, the largest value from 1 to 65535, a number from 0 to
// that. Each is written in one to seven digits and nothing else.
//
// Output: "P2", "width height" and "largest", each on its line, then the rows, a line each, with one
// blank between two numbers. Each is the mean of the up to nine pixels around and at its place that
// exist, rounded down. Anything else as input: print "not a picture" alone. main returns 0 in both
// cases.

// TODO: the whole program. Free what you allocate, whatever the input
// SOLUTION
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
    int width, height, largest;
    int *pixels; // row by row
};

// The next word of the input, without comments; 0 at the end of the input or for a long word.
static int next_word(char *word, int room)
{
    int c = getchar(), length = 0;
    while (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#') {
        if (c == '#') {
            while (c != '\n' && c != EOF) c = getchar();
        } else {
            c = getchar();
        }
    }
    while (c != EOF && c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '#') {
        if (length + 1 == room) return 0;
        word[length++] = (char)c;
        c = getchar();
    }
    if (c == '#') ungetc(c, stdin);
    word[length] = '\0';
    return length > 0;
}

// Whether the next word is a number from least to most, which goes to *number.
static int next_number(int least, int most, int *number)
{
    char word[8];
    if (!next_word(word, sizeof word) || strspn(word, "0123456789") != strlen(word)) return 0;
    *number = atoi(word);
    return least <= *number && *number <= most;
}

// Whether the input is a picture. Its pixels are the caller's to free, either way.
static int read_image(struct image *image)
{
    char word[8];
    if (!next_word(word, sizeof word) || strcmp(word, "P2") != 0) return 0;
    if (!next_number(1, 1000, &image->width) || !next_number(1, 1000, &image->height)) return 0;
    if (!next_number(1, 65535, &image->largest)) return 0;
    int count = image->width * image->height;
    image->pixels = malloc((size_t)count * sizeof *image->pixels);
    if (image->pixels == NULL) return 0;
    for (int i = 0; i < count; ++i) {
        if (!next_number(0, image->largest, &image->pixels[i])) return 0;
    }
    return !next_word(word, sizeof word) && feof(stdin);
}

static int blurred(const struct image *image, int row, int column)
{
    int sum = 0, count = 0;
    for (int r = row - 1; r <= row + 1; ++r) {
        for (int c = column - 1; c <= column + 1; ++c) {
            if (r >= 0 && r < image->height && c >= 0 && c < image->width) {
                sum += image->pixels[r * image->width + c];
                ++count;
            }
        }
    }
    return sum / count;
}

int main(void)
{
    struct image image = {0};
    if (read_image(&image)) {
        printf("P2\n%d %d\n%d\n", image.width, image.height, image.largest);
        for (int row = 0; row < image.height; ++row) {
            for (int column = 0; column < image.width; ++column) {
                printf(column == 0 ? "%d" : " %d", blurred(&image, row, column));
            }
            printf("\n");
        }
    } else {
        printf("not a picture\n");
    }
    free(image.pixels);
    return 0;
}
// END
