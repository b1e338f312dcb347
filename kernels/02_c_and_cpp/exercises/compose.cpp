// then(f, g) gives a function that calls f and hands its result to g, whatever types they take and
// return. The function has its own copies of f and g, and takes an x of any type.
// main puts functions on numbers and on strings together.

#include <cstdio>
#include <string>

template <typename F, typename G>
auto then(F f, G g)
{
    // TODO: write it
    // STARTER
    //| (void)f;
    //| return g;
    // SOLUTION
    return [f, g](auto x) { return g(f(x)); };
    // END
}

int main()
{
    double x = 0.0;
    while (std::scanf("%lf", &x) == 1) {
        const double shift = 3.0 * x;
        const auto half = [](double v) { return v / 2; };
        const auto shifted = [shift](double v) { return v + shift; };
        const auto whole = [](double v) { return static_cast<int>(v); };
        const auto stars = [](int count) { return std::string(count > 0 ? count % 8 : 0, '*'); };
        const auto row = then(then(half, whole), stars);
        std::printf("%g %g ", then(half, shifted)(x), then(shifted, half)(x));
        std::printf("%d [%s]\n", then(half, whole)(x), row(x).c_str());
        const auto loud = [](const std::string &text) { return text + "!"; };
        const auto third = [](double v) { return v / 3; };
        std::printf("[%s] ", then(loud, loud)(row(x)).c_str());
        std::printf("%.12g\n", then(third, then(half, half))(x));
    }
}
