from tests.notebooks.drawn import record


def taken(part: str, name: str, n: int) -> float:
    return record("cutlass")[part][str(n)][name]["median_ms"]


def by_cute(n: int) -> float:
    return taken("pairs", "cute_wgmma", n) / taken("pairs", "gemm_wgmma", n)


def beside_ours(name: str, n: int) -> float:
    return taken("bias_gelu", name, n) / taken("bias_gelu", "gemm_bias_gelu", n)


QUOTES = {
    "takes 1.01 times as long as the kernel by hand": lambda: max(by_cute(4096), by_cute(8192)),
    "0.3356 ms at 4,096": lambda: taken("pairs", "cute_pipeline", 4096),
    "takes 1.01 times as long as our": lambda: beside_ours("CUTLASS's builder", 8192),
    "takes 0.99 times": lambda: beside_ours("cuBLASLt", 8192),
}
GIVEN = (
    "ready, 0 s and 1.5 ms a call",
    "in 60 s, and a call takes 1.4 ms",
    "needs 150 s and the builder 200 s",
    "With 0.1 ms between them",
)
