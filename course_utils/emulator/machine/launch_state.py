"""What the machine asks of the launch that its blocks belong to."""

from __future__ import annotations

from typing import Any, Protocol

from ..findings.finding_log import FindingLog
from ..findings.options import Options
from ..memory.address_space import Regions
from .code import Code
from .observer import Observers


class LaunchState(Protocol):
    """A launch under way. ``grid``, ``block`` and ``cluster`` are (x, y, z) counts, ``budget`` and
    ``issued`` instructions, ``dynamic_shared`` bytes, ``visits`` [lanes, warps] of each block of
    code. ``entry`` is the kernel, ``module`` the one that it comes from."""

    entry: Any
    module: Any
    options: Options
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clustered: bool
    code: Code
    code_is_clustered: bool
    dynamic_shared: int
    parameters: dict[str, bytes]
    parameter_regions: Regions
    observers: Observers
    findings: FindingLog
    printed: list[tuple[tuple, str]]
    printed_size: int
    budget: int
    issued: int
    visits: dict[tuple[Code, int], list[int]]

    def grid_workspace(self) -> int: ...
