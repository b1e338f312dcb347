"""The order in which diverged lanes of a warp should run, so that they reconverge.

Lanes that are ahead wait for those that are behind, so a basic block must come after all that lead
to it, and what follows a loop after the whole loop. The text of a program nearly has this order,
but a compiler may put a block that few lanes need behind the one to which it leads back.
Source: F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993 (its weak
topological order).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from graphlib import TopologicalSorter
from heapq import heappop, heappush

Graph = dict[int, set[int]]  # block -> those that may follow it


def block_ranks(successors: Sequence[Iterable[int]]) -> list[int]:
    """The rank of every block, (n,) of 0 to n - 1, where ``successors[b]`` may follow block b.

    Blocks that no rule sets apart keep the order of their numbers.
    """
    rank = [0] * len(successors)
    for n, block in enumerate(_ordered({b: set(after) for b, after in enumerate(successors)})):
        rank[block] = n
    return rank


def _ordered(graph: Graph) -> list[int]:
    loops = _loops(graph)
    loop_of = {block: n for n, loop in enumerate(loops) for block in loop}
    before: dict[int, set[int]] = {n: set() for n in range(len(loops))}
    entered: list[set[int]] = [set() for _ in loops]
    for a, after in graph.items():
        for b in after:
            if loop_of[a] != loop_of[b]:
                before[loop_of[b]].add(loop_of[a])
                entered[loop_of[b]].add(b)
    sorter = TopologicalSorter(before)
    sorter.prepare()
    ready: list[tuple[int, int]] = []  # (its first block, loop)
    order: list[int] = []
    while sorter.is_active():
        for n in sorter.get_ready():
            heappush(ready, (min(loops[n]), n))
        _, n = heappop(ready)
        order += _loop(graph, loops[n], min(entered[n] or loops[n]))
        sorter.done(n)
    return order


def _loop(graph: Graph, blocks: set[int], head: int) -> list[int]:
    """A loop's blocks in order; the ways back to its head do not count."""
    if len(blocks) == 1:
        return [head]
    return _ordered({b: (graph[b] & blocks) - {head} for b in blocks})


def _loops(graph: Graph) -> list[set[int]]:
    """The strongly connected components (Tarjan's algorithm, without recursion)."""
    found: list[set[int]] = []
    number: dict[int, int] = {}  # in the order of the visits
    lowest: dict[int, int] = {}
    waiting: dict[int, None] = {}  # visited, their component not known yet; in order
    path: list[tuple[int, Iterator[int]]] = []

    def enter(block: int) -> None:
        number[block] = lowest[block] = len(number)
        waiting[block] = None
        path.append((block, iter(graph[block])))

    for root in graph:
        if root not in number:
            enter(root)
        while path:
            block, rest = path[-1]
            after = next(rest, None)
            if after is None:
                path.pop()
                if path:
                    before = path[-1][0]
                    lowest[before] = min(lowest[before], lowest[block])
                if lowest[block] == number[block]:
                    found.append(set())
                    while block not in found[-1]:
                        found[-1].add(waiting.popitem()[0])
            elif after not in number:
                enter(after)
            elif after in waiting:
                lowest[block] = min(lowest[block], number[after])
    return found
