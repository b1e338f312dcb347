"""PyTorch programs for a GPU on a machine without one: their "cuda" is the CPU."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .prepared_launch import instead


@contextmanager
def cuda_is_the_cpu() -> Iterator[None]:
    """Inside the ``with``, tensors that a program makes on "cuda" are on the CPU, where the
    emulator can reach them. Where PyTorch is not imported or has a GPU, nothing changes."""
    torch: Any = sys.modules.get("torch")
    if torch is None or torch.cuda.is_available():
        yield
        return
    from torch.overrides import TorchFunctionMode

    class OnTheCpu(TorchFunctionMode):  # type: ignore[misc]
        """Changes the device of every call."""

        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch.Tensor.cuda:
                return args[0]
            if function == torch.Tensor.is_cuda.__get__:
                return True
            moved = {name: on_the_cpu(value) for name, value in (kwargs or {}).items()}
            return function(*map(on_the_cpu, args), **moved)

    def on_the_cpu(value: Any) -> Any:
        is_device = isinstance(value, (str, torch.device))
        return "cpu" if is_device and str(value).partition(":")[0] == "cuda" else value

    with ExitStack() as stack:
        stack.enter_context(OnTheCpu())
        stack.enter_context(instead(torch.cuda, synchronize=lambda device=None: None))
        yield
