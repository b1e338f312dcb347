// Appends the first of n numbers three times: 4 7 becomes 4 7 4 4 4. n is at least 1.
// main reads n and the numbers, and prints the list.

#include <cstdio>
#include <vector>

void append_first(std::vector<int> &x)
{
    // BUG
    //| const int &first = x.front();
    // SOLUTION
    const int first = x.front(); // a copy: the vector moves when it grows
    // END
    for (int k = 0; k < 3; ++k) {
        x.push_back(first);
    }
}

int main()
{
    int n = 0;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> x(n);
    for (int &number : x) {
        if (std::scanf("%d", &number) != 1) return 1;
    }
    append_first(x);
    for (const int number : x) std::printf("%d ", number);
    std::printf("\n");
}
