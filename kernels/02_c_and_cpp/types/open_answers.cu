// What a GPU answers where C leaves the result open, from numbers that the compiler doesn't know.
// grid 1, block 1, dynamic shared 0
extern "C" __global__ void open_answers(const float *numbers, const int *integers, int *answers)
{
    answers[0] = (int)numbers[0];
    answers[1] = (int)(unsigned)numbers[1];
    answers[2] = (int)numbers[2];
    answers[3] = 1 << integers[0];
    answers[4] = 7 / integers[1];
}
