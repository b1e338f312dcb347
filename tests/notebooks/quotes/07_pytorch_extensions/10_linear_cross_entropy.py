from tests.notebooks.drawn import milliseconds

SIZE = [8192, 4096, 131072]
QUOTES = {
    "11.8 ms longer. But for the loss alone": lambda: (
        milliseconds("linear_loss_recomputed", SIZE) - milliseconds("linear_loss_chunked", SIZE)
    ),
}
GIVEN = (
    "they're 32 times larger than X",  # 131,072 words, 4,096 numbers
    "so its probability by up to 3 %",  # half a step of bf16 from 8 to 16
    "0.537 GB are left: 12 times less than PyTorch's peak",  # 6.442 / 0.537
    "launched 64 times",
)
