"""The answers to calls about CUDA graphs, which are made, changed and launched."""

from __future__ import annotations

import ctypes
from pathlib import Path

from .call_state import Words, addresses_at, put, put_int
from .cuda_errors import CudaStatus
from .program_graphs import GraphNode, ProgramGraph
from .refusals import Refused
from .stream_captures import NODE_TYPES, StreamCaptures


class GraphCalls(StreamCaptures):
    """Each call is answered by the method of its name."""

    # --- graphs ---

    def _cudaGraphCreate(self, w: Words) -> None:
        put(w[0], self._handle(ProgramGraph()))

    def _cudaGraphDestroy(self, w: Words) -> None:
        if self.objects.pop(w[0], None) is None:
            raise Refused(CudaStatus.cudaErrorInvalidValue)

    _cudaGraphExecDestroy = _cudaGraphDestroy

    def _cudaGraphClone(self, w: Words) -> None:
        graph = self._object(w[1], ProgramGraph)
        copies = {node: GraphNode(node.type, node.run) for node in graph.nodes}
        for node, copied in copies.items():
            copied.after = [copies[a] for a in node.after]
        put(w[0], self._handle(ProgramGraph(list(copies.values()))))

    def _cudaGraphInstantiate(self, w: Words) -> None:
        graph = self._object(w[1], ProgramGraph)
        put(w[0], self._handle({node: node.run for node in graph.order()}))

    def _cudaGraphLaunch(self, w: Words) -> None:
        self._run_all(self._object(w[0], dict))

    def _cudaGraphExecUpdate(self, w: Words) -> None:
        runs, graph = self._object(w[0], dict), self._object(w[1], ProgramGraph)
        order = graph.order()
        if [node.type for node in runs] != [node.type for node in order]:
            raise Refused(CudaStatus.cudaErrorGraphExecUpdateFailure)
        for old, new in zip(list(runs), order, strict=True):
            runs[old] = new.run

    def _cudaDeviceGetGraphMemAttribute(self, w: Words) -> None:
        found = (self.memory.allocations.get(start) for start in self.graph_memory)
        put(w[1], sum(allocation.size for allocation in found if allocation is not None))

    def _cudaGraphDebugDotPrint(self, w: Words) -> None:
        graph, path = self._object(w[0], ProgramGraph), ctypes.string_at(w[1]).decode()
        number = {node: n for n, node in enumerate(graph.nodes)}
        edges = (f"  {number[a]} -> {n};\n" for node, n in number.items() for a in node.after)
        nodes = (f'  {n} [label="type {node.type}"];\n' for node, n in number.items())
        Path(path).write_text(f"digraph {{\n{''.join((*nodes, *edges))}}}\n", encoding="utf-8")

    # --- nodes ---

    def _graph_add(self, w: Words) -> None:
        out, graph, after, count, name = w[:5]
        call = ctypes.string_at(name).decode()
        node = GraphNode(NODE_TYPES.get(call, 2 if call == "fill_elements" else 1), lambda: None)
        node.after = [self._object(n, GraphNode) for n in addresses_at(after, count)]
        node.run = self._waiting(call, w[5:])
        self._object(graph, ProgramGraph).nodes.append(node)
        put(out, self._handle(node))

    def _graph_change(self, w: Words) -> None:
        made, node = w[0], self._object(w[1], GraphNode)
        run = self._waiting(ctypes.string_at(w[2]).decode(), w[3:])
        if not made:
            node.run = run
            return
        runs = self._object(made, dict)
        if node not in runs:
            raise Refused(CudaStatus.cudaErrorInvalidValue)
        runs[node] = run

    def _cudaGraphDestroyNode(self, w: Words) -> None:
        gone = self._object(w[0], GraphNode)
        for graph in (g for g in self.objects.values() if isinstance(g, ProgramGraph)):
            graph.nodes = [node for node in graph.nodes if node is not gone]
            for node in graph.nodes:
                node.after = [a for a in node.after if a is not gone]
        del self.objects[w[0]]

    def _graph_nodes(self, w: Words) -> None:
        graph, out, count, roots = w
        nodes = [n for n in self._object(graph, ProgramGraph).nodes if not roots or not n.after]
        self._give(out, count, [self._handle(node) for node in nodes])

    @staticmethod
    def _give(out: int, count: int, numbers: list[int]) -> None:
        """Write numbers to an array of the program, which has room for ``count`` of them, and how
        many there are."""
        room = ctypes.c_uint64.from_address(count).value if out else 0
        for n, number in enumerate(numbers[:room]):
            put(out + 8 * n, number)
        put(count, len(numbers))

    def _cudaGraphNodeGetType(self, w: Words) -> None:
        put_int(w[1], self._object(w[0], GraphNode).type)

    def _cudaGraphAddDependencies(self, w: Words) -> None:
        self._object(w[0], ProgramGraph)
        for before, after in zip(addresses_at(w[1], w[3]), addresses_at(w[2], w[3]), strict=True):
            self._object(after, GraphNode).after.append(self._object(before, GraphNode))

    def _cudaGraphGetEdges(self, w: Words) -> None:
        nodes = self._object(w[0], ProgramGraph).nodes
        edges = [(a, node) for node in nodes for a in node.after]
        if w[1]:
            self._give(w[1], w[3], [self._handle(a) for a, _ in edges])
            self._give(w[2], w[3], [self._handle(node) for _, node in edges])
        put(w[3], len(edges))
