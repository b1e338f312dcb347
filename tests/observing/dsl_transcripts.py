"""What CUTLASS's Python DSL makes of the programs in ``kernels/08_cute_tma_blackwell/cute_dsl``.

``python -m tests.observing.dsl_transcripts`` writes ``assets/transcripts/cute_dsl_*.txt`` anew. It
wants the package nvidia-cutlass-dsl, and no GPU. Kept are layouts, counts of opcodes and the lines
that the lesson shows: no whole PTX.

``python -m tests.observing.dsl_transcripts flash`` counts the opcodes of FlashAttention-4's kernels
for d = 128 without a mask, on Hopper, into ``flash_attention_4_ptx.txt``. It wants flash-attn-4 and
PyTorch, whose tensors are without memory, and no GPU.

``python -m tests.observing.dsl_transcripts nvrtc`` counts the C++ kernel beside it instead, as the
NVRTC at hand compiles it, into ``nvrtc_gemm_bf16_tiled.txt``. It is meant for a release of CUDA of
about the DSL's age: ``pip install nvidia-cuda-nvrtc cuda-bindings`` in an environment of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.metadata
import io
import os
import re
import runpy
import sys
import tempfile
from collections import Counter
from pathlib import Path

from course_utils import load
from course_utils.observing.ptx_kinds import opcodes_of
from course_utils.paths import ASSETS, KERNELS

PACKAGE = "nvidia-cutlass-dsl"
COMMAND = "python -m tests.observing.dsl_transcripts"
PROGRAMS = KERNELS / "08_cute_tma_blackwell" / "cute_dsl"
LAYOUTS, PTX = (ASSETS / "transcripts" / f"cute_dsl_{name}.txt" for name in ("layouts", "ptx"))
NVRTC = ASSETS / "transcripts" / "nvrtc_gemm_bf16_tiled.txt"
FLASH = ASSETS / "transcripts" / "flash_attention_4_ptx.txt"
TILED = "08_cute_tma_blackwell/gemm/gemm_bf16_tiled.cu"
COEFFICIENTS = (3.0, 0.0, -2.0, 1.0)
TILES = "    tiles_n, tiles_m = N // BN, M // BM\n"
SOONER = "    M, N = cute.assume(M, divby=BM), cute.assume(N, divby=BN)\n"
AT_ONCE = "    rounded.store(total.load().to(cutlass.BFloat16))\n"
ONE_BY_ONE = """\
    for v in cutlass.range_constexpr(cute.size(total)):
        rounded[v] = total[v].to(cutlass.BFloat16)
"""
FENCE = '                cute.arch.fence_proxy("async.shared", space="cta")\n'
EXPECT = "cute.arch.mbarrier_arrive_and_expect_tx(full + stage, bytes_of_stage)"
NO_BYTES = "cute.arch.mbarrier_arrive(full + stage)"
ASSUMED = "    N, K = cute.assume(N, divby=BN), cute.assume(K, divby=BK)"


def sources(*files: Path) -> str:
    """Sixteen digits that change with these files, or with the DSL's programs."""
    texts = [path.read_text(encoding="utf-8") for path in files or sorted(PROGRAMS.glob("*.py"))]
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def heading() -> str:
    version = importlib.metadata.version(PACKAGE)
    return f"# {PACKAGE} {version}, for sm_90a; sources {sources()}\n$ {COMMAND}\n"


def layouts() -> str:
    show = runpy.run_path(str(PROGRAMS / "layout_algebra.py"))["show"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        show()
    return heading() + printed.getvalue()


def ptx() -> str:
    """Sections, each begun by a line with ##."""
    program = runpy.run_path(str(PROGRAMS / "polynomial.py"))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        text = program["ptx"](COEFFICIENTS)
    gemm = runpy.run_path(str(PROGRAMS / "gemm_bf16_dsl.py"))
    square = gemm["ptx"]()
    wide = gemm["Plan"](BN=256, WARPS_N=4, STAGES=4, BLOCKS=1)
    sections = {
        "polynomial: printed": printed.getvalue().rstrip(),
        "polynomial: PTX": between(text, r"\tmov\.u32[^\n]*%tid\.x", r"\tret;"),
        "gemm_bf16_dsl": counted(square),
        "gemm_bf16_dsl: N // BN": between(
            square, r"\tshr\.s32 ", r"\tselp[^\n]*\n\tadd\.s32 [^\n]*"
        ),
        "gemm_bf16_dsl, BN = 256": counted(gemm["ptx"](wide)),
        "gemm_bf16_dsl, unsigned sizes": counted(edited(": cutlass.Int32", ": cutlass.Uint32")),
        "gemm_bf16_dsl, assumed sooner": counted(edited(TILES, SOONER + TILES)),
        "gemm_bf16_dsl, rounded one by one": counted(edited(AT_ONCE, ONE_BY_ONE)),
        "gemm_bf16_dsl, nothing assumed": refusal(ASSUMED, "    pass"),
    }
    hopper, blackwell, bulk = (
        runpy.run_path(str(PROGRAMS / f"{name}.py"))
        for name in ("gemm_hopper_dsl", "gemm_blackwell_dsl", "bulk_copy")
    )
    small = hopper["Plan"](BM=64, BN=128, STAGES=6)
    other_files = {
        "gemm_hopper_dsl": hopper["ptx"](),
        "gemm_hopper_dsl, 64 x 128, six stages": hopper["ptx"](small),
        "gemm_hopper_dsl, freed through the cluster": hopper["ptx"](
            hopper["Plan"](through_cluster=True)
        ),
        "gemm_hopper_dsl, stores not fenced": edited(FENCE, "", "gemm_hopper_dsl"),
        "gemm_hopper_dsl, bytes not expected": edited(EXPECT, NO_BYTES, "gemm_hopper_dsl"),
        "bulk_copy": bulk["ptx"](),
        "gemm_blackwell_dsl, for sm_100a": blackwell["ptx"](),
        "gemm_blackwell_dsl, nothing ordered": blackwell["ptx"](blackwell["Plan"](ordered=False)),
    }
    sections |= {name: counted(text) for name, text in other_files.items()}
    return heading() + "".join(f"## {name}\n{body}\n" for name, body in sections.items())


def nvrtc() -> str:
    """The C++ kernel's opcodes, as the NVRTC at hand writes them."""
    text = load(TILED).compiled("compute_90a").code
    release = re.search(r"release ([\d.]+)", text)[1]
    first = f"# NVRTC {release}, for compute_90a; sources {sources(KERNELS / TILED)}"
    return f"{first}\n$ {COMMAND} nvrtc\n{counted(text)}\n"


def flash() -> str:
    """The opcodes of FlashAttention-4's kernels, a section each."""
    settings = {
        "FLASH_ATTENTION_ARCH": "sm_90",
        "CUTE_DSL_ARCH": "sm_90a",
        "FLASH_ATTENTION_NUM_SMS": "132",  # of an H200
        "QUACK_ARCH": "90",
        "CUTE_DSL_KEEP_PTX": "1",
    }
    version = importlib.metadata.version("flash-attn-4")
    text = f"# flash-attn-4 {version}, d = 128 in bf16, no mask, for sm_90a\n$ {COMMAND} flash\n"
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(settings, CUTE_DSL_DUMP_DIR=folder)
        torch = importlib.import_module("torch")
        calls = importlib.import_module("flash_attn.cute.interface")
        without_memory = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
        with without_memory():
            shape = 2, 8192, 16, 128
            q, k, v, do = (torch.empty(shape, dtype=torch.bfloat16, device="cuda") for _ in "qkvo")
            out, lse, *_ = calls._flash_attn_fwd(q, k, v, return_lse=True)
            calls._flash_attn_bwd(q, k, v, out, do, lse)
        for name in ("fwd_sm90", "bwd_preprocess", "bwd_sm90", "bwd_postprocess"):
            (file,) = Path(folder).glob(f"*flash_{name}*.ptx")
            text += f"## {name}\n{counted(file.read_text(encoding='utf-8'))}\n"
    return text


def counted(text: str) -> str:
    """Opcodes with their counts, the most frequent first."""
    found = Counter(opcodes_of(text))
    return "\n".join(
        f"{count:5} {name}" for name, count in sorted(found.items(), key=lambda x: (-x[1], x[0]))
    )


def between(text: str, first: str, last: str) -> str:
    """The lines from the first that matches to the next that matches ``last``."""
    found = re.search(rf"^{first}.*?^{last}", text, re.M | re.S)
    return found[0].replace("\t", " ").rstrip()


def edited(old: str, new: str, program: str = "gemm_bf16_dsl") -> str:
    """The PTX of the ``program`` with one text replaced by another, wherever it stands."""
    source = (PROGRAMS / f"{program}.py").read_text(encoding="utf-8")
    assert old in source
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edited.py"
        file.write_text(source.replace(old, new), encoding="utf-8")
        return runpy.run_path(str(file))["ptx"]()


def refusal(old: str, new: str) -> str:
    """What the DSL says against the edited product."""
    try:
        edited(old, new)
    except Exception as error:  # the package's own class, which need not be installed
        text = re.sub(r"\x1b\[\d+m", "", str(error))
        return re.search(r"error: unknown: (.*?)\n\s*suggestion", text, re.S)[1]
    raise AssertionError("the DSL takes it")


if __name__ == "__main__":
    on_request = {"nvrtc": {NVRTC: nvrtc}, "flash": {FLASH: flash}}
    chosen = on_request[sys.argv[1]] if sys.argv[1:] else {LAYOUTS: layouts, PTX: ptx}
    for path, make in chosen.items():
        path.write_text(make(), encoding="utf-8")
