// n floats on the heap that free themselves: a class that owns its memory. A buffer is handed
// on by moving it, and never copied. main reads how many floats each buffer has, and moves them.

#include <cstdio>
#include <type_traits>
#include <utility>
#include <vector>

class Buffer {
public:
    explicit Buffer(int n) : data_(new float[n]), n_(n) {}

    // TODO: a destructor; no copying; a move constructor that leaves the other buffer empty
    // SOLUTION
    ~Buffer() { delete[] data_; }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    Buffer(Buffer &&other) noexcept : data_(other.data_), n_(other.n_)
    {
        other.data_ = nullptr;
        other.n_ = 0;
    }
    // END

    float *data() { return data_; }
    int size() const { return n_; }

private:
    float *data_;
    int n_;
};

int main()
{
    const bool copies = std::is_copy_constructible_v<Buffer> || std::is_copy_assignable_v<Buffer>;
    std::printf("can be copied: %d, ", copies);
    std::printf("moved without fail: %d\n", std::is_nothrow_move_constructible_v<Buffer>);
    std::vector<Buffer> kept;
    int n = 0;
    while (std::scanf("%d", &n) == 1) {
        Buffer buffer(n);
        for (int i = 0; i < n; ++i) buffer.data()[i] = 0.5f * i;
        if (n % 2 == 1) continue; // an odd one is dropped here
        const float *place = buffer.data();
        kept.push_back(std::move(buffer));
        std::printf("moved %d, %d left behind, ", n, buffer.size());
        std::printf("%s\n", kept.back().data() == place ? "where it was" : "copied");
    }
    float sum = 0.0f;
    for (Buffer &buffer : kept) {
        for (int i = 0; i < buffer.size(); ++i) sum += buffer.data()[i];
    }
    std::printf("%zu kept, sum %g\n", kept.size(), sum);
}
