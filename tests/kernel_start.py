"""Plugin of pytest: nbval starts a kernel again that died before it answered.

Jupyter looks for free ports and closes them for the kernel to open. Where many kernels start at
once, another one may take a port in between, and the kernel ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

TRIES = 3


def pytest_configure(config):
    from nbval import kernel

    kernel.start_new_kernel = tried_again(kernel.start_new_kernel)


def tried_again(start: Callable[..., Any]) -> Callable[..., Any]:
    """``start``, up to :data:`TRIES` times."""

    @wraps(start)
    def started(*arguments: Any, **options: Any) -> Any:
        for _ in range(TRIES - 1):
            try:
                return start(*arguments, **options)
            except RuntimeError:
                continue
        return start(*arguments, **options)

    return started
