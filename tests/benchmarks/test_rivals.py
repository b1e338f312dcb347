"""FlashAttention-3 and -4, QuACK and FlashInfer are called with our arrays in their layouts, and
named with versions.

The packages need a Hopper GPU, so that PyTorch's formulas stand in for their functions here.
"""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from course_utils.benchmarks.cases.first_kernels import chains
from course_utils.benchmarks.libraries import rivals
from course_utils.devices.selection import ON_GPU, cp

torch = pytest.importorskip("torch")
ROWS, COLUMNS, EPS = 5, 8, 1e-5


@pytest.fixture
def stand_in(monkeypatch):
    """Give each package these functions, on the CPU; arrays of uint16 stay the bits of bf16."""

    def set_up(**functions):
        def as_tensors(*arrays):
            bits = (x.view(np.int16) if x.dtype == np.uint16 else x for x in arrays)
            tensors = map(torch.from_numpy, bits)
            return tuple(x.view(torch.bfloat16) if x.dtype == torch.int16 else x for x in tensors)

        monkeypatch.setattr(rivals, "torch_on_gpu", lambda: torch)
        monkeypatch.setattr(rivals, "as_tensors", as_tensors)
        monkeypatch.setattr(rivals, "cp", np)
        monkeypatch.setattr(rivals, "versioned", lambda rival: f"{rival} 1.2")
        monkeypatch.setattr(rivals, "import_module", lambda name: SimpleNamespace(**functions))

    return set_up


def by_tokens(q, k, v, causal):
    """Attention of (sequences, tokens, heads, d), and the other result of FlashAttention-4's."""
    assert all(x.is_contiguous() for x in (q, k, v))
    x = torch.nn.functional.scaled_dot_product_attention(
        *(each.transpose(1, 2) for each in (q, k, v)), is_causal=causal
    )
    return x.transpose(1, 2), None


def tensors(count):
    """As :func:`bf16_tensors` makes them: (sequences, heads, tokens, d) of (tokens, heads, d)."""
    made = (torch.randn(2 * 6, 3, 4).unflatten(0, (2, -1)).transpose(1, 2) for _ in range(count))
    return tuple(made)


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_without_a_gpu_there_are_no_rivals_and_bench_says_why():
    x = np.zeros((2, 2), np.float32)
    assert rivals.softmax(x) == rivals.product(x, x) == rivals.rms_norm(x, x[0], EPS) == {}
    assert rivals.sampling(x, 1, 1) == rivals.nucleus_sampling(x, 1, 1, 1, 1) == {}
    assert rivals.top_k(x, 1) == {}
    assert [line.split(" is not")[0] for line in rivals.missing()] == list(rivals.PACKAGES)


def test_wgmma_s_attention_is_not_offered_on_newer_gpus(monkeypatch):
    monkeypatch.setattr(rivals, "version", lambda package: "1.2")
    for major, offered in (8, []), (9, ["3", "4"]), (10, ["4"]):
        cuda = SimpleNamespace(get_device_capability=lambda major=major: (major, 0))
        monkeypatch.setattr(rivals, "torch_on_gpu", lambda cuda=cuda: SimpleNamespace(cuda=cuda))
        rivals.versioned.cache_clear()
        assert list(rivals._flash_attention()) == [f"FlashAttention-{n} 1.2" for n in offered]
    rivals.versioned.cache_clear()


@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_its_gradients_are_asked_for_by_tokens(stand_in, monkeypatch, causal):
    def output_alone(*given, **settings):
        return by_tokens(*given, **settings)[0]

    functions = {"flash_attn.cute.interface": by_tokens, "flash_attn_interface": output_alone}
    stand_in()
    found = lambda module: SimpleNamespace(flash_attn_func=functions[module])  # noqa: E731
    monkeypatch.setattr(rivals, "import_module", found)
    q, k, v, do = tensors(4)
    runs = rivals.attention(q, k, v, causal)
    assert list(runs) == ["FlashAttention-3 1.2", "FlashAttention-4 1.2"]
    sdpa, grad, grads = torch.nn.functional.scaled_dot_product_attention, torch.autograd.grad, []
    for run in runs.values():
        torch.testing.assert_close(run(), sdpa(q, k, v, is_causal=causal))
    monkeypatch.setattr(torch.autograd, "grad", lambda *a, **b: grads.append(grad(*a, **b)))
    runs = rivals.attention_backward(q, k, v, do, causal)
    assert [run() for run in runs.values()] == [None, None]  # timed, not checked
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    exact = grad(sdpa(*leaves, is_causal=causal), leaves, do)
    for each in grads:
        torch.testing.assert_close([x.transpose(1, 2) for x in each], list(exact))


def test_sampling_gets_logits_a_seed_and_where_it_can_the_temperature(stand_in):
    asked = []

    def softmax(logits, temperature):
        asked.append(temperature)
        return (logits / temperature).softmax(dim=-1)

    def sampling_from_probs(probs, seed, offset):
        torch.testing.assert_close(probs.sum(dim=-1), torch.ones(ROWS))
        asked.append((seed, offset))

    def sampling_from_logits(logits, seed, offset):
        asked.append((logits.shape, seed, offset))

    def top_k_top_p_sampling_from_logits(logits, k, p, filter_apply_order, seed, offset):
        asked.append((float(logits[0, 0]), k, p, filter_apply_order))

    def top_k(x, k, sorted):
        asked.append(sorted)
        return list(torch.topk(x, k, dim=-1))

    stand_in(
        softmax=softmax,
        sampling_from_probs=sampling_from_probs,
        sampling_from_logits=sampling_from_logits,
        top_k_top_p_sampling_from_logits=top_k_top_p_sampling_from_logits,
        top_k=top_k,
    )
    x = np.full((ROWS, COLUMNS), 2, np.float32)
    runs = rivals.sampling(x, 0.5, 7) | rivals.nucleus_sampling(x, 3, 0.9, 0.5, 7)
    names = ["FlashInfer 1.2, no temperature", "FlashInfer 1.2, softmax", "FlashInfer 1.2"]
    assert list(runs) == names
    assert [run() for run in runs.values()] == [None] * 3
    assert asked == [((ROWS, COLUMNS), 7, 0), 0.5, (7, 0), (4, 3, 0.9, "top_k_first")]
    in_order, unsorted = rivals.top_k(x, 3).values()
    assert isinstance(in_order(), tuple) and unsorted() is None
    assert asked[-2:] == [True, False]


class Planned:
    """Stands in for FlashInfer's wrapper: attention of the rows that its plan names."""

    def __init__(self, room, layout, use_tensor_cores):
        assert layout == "HND" and isinstance(use_tensor_cores, bool)

    def plan(self, indptr, indices, last, heads, kv_heads, width, page, **kinds):
        assert {x.dtype for x in (indptr, indices, last)} == {torch.int32}
        self.pages = [indices[a:b] for a, b in pairwise(indptr.tolist())]
        self.last, self.shape = last.tolist(), (heads, kv_heads, width)

    def run(self, q, cache, out):
        assert self.shape == (q.shape[1], cache[0].shape[1], q.shape[2])
        for s, pages in enumerate(self.pages):
            count = cache[0].shape[2] * (len(pages) - 1) + self.last[s]
            k, v = (x[pages].transpose(0, 1).flatten(1, 2)[:, :count] for x in cache)
            sdpa = torch.nn.functional.scaled_dot_product_attention
            out[s] = sdpa(q[s][:, None], k, v, enable_gqa=True)[:, 0]
        return out


def test_decoding_reads_each_sequence_from_its_pages(stand_in):
    def xqa(q, cache, room, pages, lengths, longest, scale, out, kv_layout):
        assert (lengths.dtype, longest, scale, kv_layout) == (torch.uint32, 7, 0.5, "HND")
        return out

    stand_in(BatchDecodeWithPagedKVCacheWrapper=Planned, xqa_batch_decode_with_kv_cache=xqa)
    lengths, table = np.array([7, 4, 1], np.int32), np.array([[4, 0], [2, 1], [3, 1]], np.int32)
    drawn = (torch.randn(shape).bfloat16() for shape in ((3, 4, 4), (5, 2, 4, 4), (5, 2, 4, 4)))
    q, k, v = (x.view(torch.int16).numpy().view(np.uint16) for x in drawn)
    runs = rivals.decoding(q, k, v, lengths, table)
    assert list(runs) == [f"FlashInfer 1.2{way}" for way in ("", ", tensor cores", ", XQA")]
    found = runs["FlashInfer 1.2"]().clone()
    assert found.shape == (3, 4, 1, 4)  # as PyTorch's
    alone = torch.from_numpy(v.view(np.int16)).view(torch.bfloat16)[3, :, 0]
    torch.testing.assert_close(found[2, :, 0], alone.repeat_interleave(2, dim=0))
    last = rivals.decoding(q[:1], k, v, lengths[:1], table[:1])["FlashInfer 1.2, tensor cores"]()
    torch.testing.assert_close(last[0], found[0])


def test_a_product_goes_into_our_array(stand_in):
    def gemm(a, b, out):
        torch.matmul(a, b, out=out)

    stand_in(gemm=gemm)
    a, b = (torch.randn(rows, 8).bfloat16() for rows in (3, 5))
    bits = (x.view(torch.int16).numpy().view(np.uint16) for x in (a, b))
    (run,) = rivals.product(*bits).values()
    found = torch.from_numpy(run().view(np.int16)).view(torch.bfloat16)
    torch.testing.assert_close(found, a @ b.T)


def test_norms_and_softmax_get_rows_and_factors(stand_in):
    def layernorm_fwd(x, weight, bias, eps):
        return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)

    def rmsnorm_fwd(x, weight, eps):
        return torch.nn.functional.rms_norm(x, weight.shape, weight, eps), x, None

    def softmax_fwd(x):
        return x.softmax(1)

    def layer_norm_forward(x, weight, bias, eps):
        return layernorm_fwd(x, weight, bias, eps), None

    def rms_norm_forward(x, weight, eps, offset, casting_mode, row_mode):
        assert (offset, casting_mode, row_mode) == (0, "gemma", None)
        return rmsnorm_fwd(x, weight, eps)

    stand_in(
        layernorm_fwd=layernorm_fwd,
        rmsnorm_fwd=rmsnorm_fwd,
        softmax_fwd=softmax_fwd,
        layer_norm_forward=layer_norm_forward,
        rms_norm_forward=rms_norm_forward,
    )
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    gamma, beta = rng.standard_normal((2, COLUMNS), dtype=np.float32)
    mean, square = x.mean(axis=1, keepdims=True), (x**2).mean(axis=1, keepdims=True)
    normed = (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + EPS)
    powers = np.exp(x)
    for runs, expected in (
        (rivals.layer_norm(x, gamma, beta, EPS), normed * gamma + beta),
        (rivals.rms_norm(x, gamma, EPS), x / np.sqrt(square + EPS) * gamma),
        (rivals.softmax(x), powers / powers.sum(axis=1, keepdims=True)),
    ):
        assert list(runs) in (["QuACK 1.2", "Liger 1.2"], ["QuACK 1.2"])
        for run in runs.values():
            np.testing.assert_allclose(run().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_gradients_are_timed_and_not_checked(stand_in):
    def cross_entropy_fwd(x, target, ignore_index, return_dx):
        assert (tuple(x.shape), tuple(target.shape)) == ((ROWS, COLUMNS), (ROWS,))
        assert (ignore_index, return_dx) == (-100, True)

    def rmsnorm_bwd(x, weight, dout, rstd):
        assert (tuple(weight.shape), tuple(rstd.shape)) == ((COLUMNS,), (ROWS,))
        assert float(dout[0, 0]) == 2

    def layernorm_bwd(x, weight, dout, rstd, mean):
        rmsnorm_bwd(x, weight, dout, rstd)
        assert (float(rstd[0]), float(mean[0])) == (3, 4)

    def cross_entropy_forward(logits, target, weight, ignored, *more):
        cross_entropy_fwd(logits, target, ignored, logits.requires_grad)
        logits.data.fill_(5)  # the gradient takes the logits' place

    def rms_norm_backward(dout, x, weight, rstd, offset, mode, block, warps, in_place, row_mode):
        assert (offset, mode, block, warps, row_mode) == (0, 1, 8, 4, None)
        if float(dout[0, 0]) == 2:  # at first
            rmsnorm_bwd(x, weight, dout, rstd)
        dout.fill_(5)

    def layer_norm_backward(dout, x, weight, bias, mean, rstd):
        layernorm_bwd(x, weight, dout, rstd, mean)

    stand_in(
        cross_entropy_fwd=cross_entropy_fwd,
        rmsnorm_bwd=rmsnorm_bwd,
        layernorm_bwd=layernorm_bwd,
        cross_entropy_forward=cross_entropy_forward,
        rms_norm_backward=rms_norm_backward,
        layer_norm_backward=layer_norm_backward,
        calculate_settings=lambda columns: (columns, 4),
    )
    x, gamma = np.zeros((ROWS, COLUMNS), np.float32), np.ones(COLUMNS, np.float32)
    dy, rstd, mean = x + 2, np.full(ROWS, 3, np.float32), np.full(ROWS, 4, np.float32)
    for runs in (
        rivals.cross_entropy(x, np.zeros(ROWS, np.int64), -100),
        rivals.rms_norm_backward(dy, x, gamma, rstd),
        rivals.layer_norm_backward(dy, x, gamma, mean, rstd),
    ):
        assert len(runs) == 2
        for run in runs.values():
            assert run() is run() is None
    assert (x == 0).all() and (dy == 2).all()  # Liger overwrites copies


def test_the_compiler_s_chain_drops_the_elements_that_ours_drops():
    x = torch.zeros(100_003)
    ours = cp.asnumpy(chains.kept(x.numel()))
    assert np.array_equal(chains.torch_kept(torch, x).numpy(), ours)
    assert 0.89 < ours.mean() < 0.91
