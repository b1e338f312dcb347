// A list whose nodes point to the next one; the last points to nothing, and an empty list is NULL.
// main reads numbers, puts each at the front, and prints the last of the list and its length.

#include <stdio.h>
#include <stdlib.h>

struct Node {
    int value;
    struct Node *next;
};

struct Node *last_of(struct Node *list)
{
    // BUG
    //| while (list->next != NULL) list = list->next;
    // SOLUTION
    while (list != NULL && list->next != NULL) list = list->next;
    // END
    return list;
}

int main(void)
{
    struct Node *list = NULL;
    int value, length = 0;
    while (scanf("%d", &value) == 1) {
        struct Node *node = malloc(sizeof *node);
        node->value = value;
        node->next = list;
        list = node;
        ++length;
    }
    struct Node *last = last_of(list);
    if (last != NULL) printf("last %d, ", last->value);
    printf("length %d\n", length);
    while (list != NULL) {
        struct Node *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
