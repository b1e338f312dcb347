"""CUDA graphs: calls that wait, and the captures that record them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .cuda_errors import CudaStatus
from .refusals import Refused

Run = Callable[[], None]


@dataclass(eq=False)
class GraphNode:
    """A call that waits. ``type`` is its cudaGraphNodeType. It runs after the nodes ``after``."""

    type: int
    run: Run
    after: list[GraphNode] = field(default_factory=list)


@dataclass(eq=False)
class ProgramGraph:
    """The nodes of a graph, in the order in which they were added."""

    nodes: list[GraphNode] = field(default_factory=list)

    def order(self) -> list[GraphNode]:
        """The nodes so that each comes after those that it waits for. Raises Refused for a
        circle."""
        left, found = list(self.nodes), dict[GraphNode, None]()
        while left:
            ready = [n for n in left if all(a in found for a in n.after if a in self.nodes)]
            if not ready:
                raise Refused(CudaStatus.cudaErrorInvalidValue)
            found.update(dict.fromkeys(ready))
            left = [node for node in left if node not in found]
        return list(found)


@dataclass(eq=False)
class Capture:
    """A capture that streams are in. ``tips`` are the last nodes of each stream."""

    graph: ProgramGraph
    origin: int
    mode: int
    tips: dict[int, list[GraphNode]] = field(default_factory=dict)
    broken: bool = False
