"""The order in which lanes of a warp that have parted should run, so that they meet again.

Lanes that are ahead wait for those that are behind, so a basic block must come after all that lead
to it, and what follows a loop after the whole loop. The text of a program nearly has this order,
but a compiler may put a block that few lanes need behind the one to which it leads back.
Source: F. Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993 (its weak
topological order).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

Graph = dict[int, set[int]]  # block -> those that may follow it


def places(successors: Sequence[Iterable[int]]) -> list[int]:
    """The place of every block, (n,) of 0 to n - 1, where ``successors[b]`` may follow block b.

    Blocks that no rule sets apart keep the order of their numbers.
    """
    place = [0] * len(successors)
    for n, block in enumerate(_ordered({b: set(after) for b, after in enumerate(successors)})):
        place[block] = n
    return place


def _ordered(graph: Graph) -> list[int]:
    loops = _loops(graph)
    loop_of = {block: n for n, loop in enumerate(loops) for block in loop}
    ways = [(a, b) for a, after in graph.items() for b in after if loop_of[a] != loop_of[b]]
    waits = [0] * len(loops)  # for so many ways in
    leads_to: list[list[int]] = [[] for _ in loops]
    entered: list[set[int]] = [set() for _ in loops]
    for a, b in ways:
        waits[loop_of[b]] += 1
        leads_to[loop_of[a]].append(loop_of[b])
        entered[loop_of[b]].add(b)
    ready: list[tuple[int, int]] = []
    for n, loop in enumerate(loops):
        if not waits[n]:
            heappush(ready, (min(loop), n))
    order: list[int] = []
    while ready:
        _, n = heappop(ready)
        order += _loop(graph, loops[n], min(entered[n] or loops[n]))
        for after in leads_to[n]:
            waits[after] -= 1
            if not waits[after]:
                heappush(ready, (min(loops[after]), after))
    return order


def _loop(graph: Graph, blocks: set[int], head: int) -> list[int]:
    """A loop's blocks in order; the ways back to its head do not count."""
    if len(blocks) == 1:
        return [head]
    return _ordered({b: (graph[b] & blocks) - {head} for b in blocks})


def _loops(graph: Graph) -> list[set[int]]:
    """The strongly connected components (Tarjan's algorithm, without recursion)."""
    found: list[set[int]] = []
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_blocks: list[int] = []  # visited, their component not known yet
    is_open: set[int] = set()
    for root in graph:
        if root in number:
            continue
        path = [(root, iter(graph[root]))]
        number[root] = lowest[root] = len(number)
        open_blocks.append(root)
        is_open.add(root)
        while path:
            block, rest = path[-1]
            for after in rest:
                if after not in number:
                    number[after] = lowest[after] = len(number)
                    open_blocks.append(after)
                    is_open.add(after)
                    path.append((after, iter(graph[after])))
                    break
                if after in is_open:
                    lowest[block] = min(lowest[block], number[after])
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    lowest[before] = min(lowest[before], lowest[block])
                if lowest[block] == number[block]:
                    cut = open_blocks.index(block)
                    found.append(set(open_blocks[cut:]))
                    is_open.difference_update(open_blocks[cut:])
                    del open_blocks[cut:]
    return found
