// The gradient of a 2 x 2 max pool: x and dx are M planes of H x W, dy is M planes of H/2 x W/2; H
// and W are even. Each dy goes to the pixel of x that was the largest of its four, and the other
// three get 0. Of equal ones the first counts, from left to right and from top to bottom. dx comes
// with anything in it.
void pool_backward(const float *x, const float *dy, float *dx, int M, int H, int W)
{
    // TODO: find each square's winner in x, and write four elements of dx
    // STARTER
    //| (void)x, (void)dy, (void)dx, (void)M, (void)H, (void)W; // take this line out
    // SOLUTION
    for (int row = 0; row < M * H / 2; ++row) { // of dy, all planes one below the other
        for (int column = 0; column < W / 2; ++column) {
            const int corner = 2 * row * W + 2 * column;
            const int place[4] = {corner, corner + 1, corner + W, corner + W + 1};
            int winner = place[0];
            for (int k = 1; k < 4; ++k) {
                if (x[place[k]] > x[winner]) winner = place[k];
            }
            for (int k = 0; k < 4; ++k) {
                dx[place[k]] = 0.0f;
            }
            dx[winner] = dy[row * (W / 2) + column];
        }
    }
    // END
}
