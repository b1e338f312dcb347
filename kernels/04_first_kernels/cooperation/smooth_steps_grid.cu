// `steps` steps of smoothing in one launch: x becomes y becomes x and so on, n floats each. After an
// even number of steps the result is in x, after an odd one in y.
// The idea: cooperative groups' barrier for the whole grid takes the place of the end of a kernel.
// Limit: the barrier, at small n. The launch must be cooperative, and the grid resident at once.
// grid (any that is resident at once), block (any), dynamic shared 0

#include <cooperative_groups.h>

extern "C" __global__ void smooth_steps_grid(float *x, float *y, int n, int steps)
{
    const auto grid = cooperative_groups::this_grid();
    for (int step = 0; step < steps; ++step) {
        for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) {
            y[i] = (x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]) / 3.0f;
        }
        float *other = x;
        x = y;
        y = other;
        grid.sync();
    }
}
