"""``@triton.autotune`` where there are no times: the first configuration that fits, or all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .prepared_launch import Emulation, instead
from .triton_driver import called_once


@contextmanager
def tuned_on(emulation: Emulation, tuner: Any) -> Iterator[None]:
    """Inside the ``with``, the class ``tuner``, Triton's Autotuner, takes the first configuration
    that can be launched. With ``emulation.every_config`` it launches each one before."""
    with instead(
        tuner,
        run=_tuned(tuner.run),
        check_disk_cache=_always_tuned,
        _bench=_first_that_fits(tuner._bench, emulation),
    ):
        yield


def _tuned(run: Any) -> Any:
    """``Autotuner.run`` with its own memory, so that a GPU doesn't get the emulator's choice."""

    def tuned(tuner: Any, *args: Any, **kwargs: Any) -> Any:
        known = tuner.cache
        tuner.cache = tuner.__dict__.setdefault("_of_emulator", {})
        try:
            return run(tuner, *args, **kwargs)
        finally:
            tuner.cache = known

    return tuned


def _always_tuned(tuner: Any, key: Any, configs: Any, bench: Any) -> bool:
    """``Autotuner.check_disk_cache`` that neither reads nor writes one."""
    bench()
    return False


def _first_that_fits(bench: Any, emulation: Emulation) -> Any:
    """``Autotuner._bench``: 0 for the first configuration that can be launched."""

    def benched(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        found = tuner.__dict__.get("_found") is tuner.nargs
        if found and not emulation.every_config:
            return [float("inf")] * 3
        own = tuner.__dict__.get("do_bench")
        tuner.__dict__["do_bench"] = called_once
        trying, emulation.trying = emulation.trying, not emulation.every_config
        try:
            times: list[float] = bench(tuner, *args, config=config, **meta)
        finally:
            emulation.trying = trying
            tuner.__dict__.pop("do_bench")
            if own is not None:
                tuner.__dict__["do_bench"] = own
        if times[0] == 0:
            times = [1.0 if found else 0.0] * 3
            tuner.__dict__["_found"] = tuner.nargs
        return times

    return benched
