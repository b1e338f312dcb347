"""Streams that are captured: their calls wait in a graph."""

from __future__ import annotations

import ctypes
from typing import TypeVar

from .call_state import CallState, Words, addresses_at, put, put_int
from .cuda_errors import CudaStatus
from .host_mistakes import HostMistake
from .program_graphs import Capture, GraphNode, ProgramGraph, Run
from .program_launches import AskedLaunch
from .refusals import Refused

RELAXED = 2  # cudaStreamCaptureModeRelaxed
# What a capture doesn't take, unless it is relaxed: calls that the default stream would run now.
AT_ONCE = {
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy3D",
    "cudaMemcpyToSymbol",
    "cudaMemcpyFromSymbol",
    "cudaMemset",
    "cudaMemset2D",
}
UNSAFE = {"cudaMalloc", "cudaMallocPitch", "cudaFree", "cudaDeviceSynchronize"}
# A node's cudaGraphNodeType, by the call that it makes.
NODE_TYPES = {"launch": 0, "host_function": 3, "child_graph": 4, "nothing": 5}
NODE_TYPES |= {"wait_event": 6, "record_event": 7, "allocated": 10, "cudaFreeAsync": 11}

Kind = TypeVar("Kind")


class StreamCaptures(CallState):
    """Each call is answered by the method of its name."""

    # --- objects by number ---

    def _handle(self, made: object) -> int:
        number = next((n for n, known in self.objects.items() if known is made), 0)
        if not number:
            number = 0x10000 + 16 * next(self.numbers)
            self.objects[number] = made
        return number

    def _object(self, number: int, kind: type[Kind]) -> Kind:
        found = self.objects.get(number)
        if not isinstance(found, kind):
            raise Refused(CudaStatus.cudaErrorInvalidValue)
        return found

    def _runs(self, number: int) -> dict[GraphNode, Run]:
        found = self.objects.get(number)
        if isinstance(found, ProgramGraph):
            return {node: node.run for node in found.order()}
        return self._object(number, dict)

    def _run_all(self, runs: dict[GraphNode, Run]) -> None:
        for run in list(runs.values()):
            if not self.sticky and not self.pending:
                run()

    # --- to record ---

    def recorded(self, name: str, words: Words, stream: int) -> bool:
        """Whether a capture of the stream takes the call, which then waits. Raises Refused for a
        call that no capture allows."""
        capture = self.captures.get(stream)
        self.captured = capture is not None
        if capture is None:
            self._refuse_while_capturing(name, stream)
            return False
        if name in ("cudaStreamWaitEvent", "cudaEventRecord"):
            return False
        if name == "cudaMallocAsync":
            getattr(self, f"_{name}")(words)  # the program has the address from now on
            name, words = "allocated", addresses_at(words[0], 1)
        if name == "cudaStreamAddCallback":
            self._break(capture, f"{name} is called on a stream that is being captured.")
        if name == "cudaLaunchHostFunc":
            put_int(words[2], 1)
            name = "host_function"
        node = GraphNode(NODE_TYPES.get(name, 1), self._waiting(name, words))
        node.after = capture.tips.get(stream, [])
        capture.tips[stream] = [node]
        capture.graph.nodes.append(node)
        return True

    def _refuse_while_capturing(self, name: str, stream: int) -> None:
        strict = [c for c in self.captures.values() if c.mode != RELAXED]
        blocking = [c for c in strict if not c.origin & 1]  # as the runtime numbers its streams
        if strict and name in UNSAFE:
            text = f"{name} is called while a stream is being captured."
            self._break(strict[0], text)
        if blocking and (name in AT_ONCE or (name == "launch" and stream == 0)):
            text = f"{name} uses the default stream while a stream that waits for it is captured."
            self._break(blocking[0], text, CudaStatus.cudaErrorStreamCaptureImplicit)

    def _break(
        self,
        capture: Capture,
        message: str,
        error: CudaStatus = CudaStatus.cudaErrorStreamCaptureUnsupported,
    ) -> None:
        capture.broken = True
        raise Refused(error, HostMistake.INVALID_CALL, f"{message} End the capture first.")

    def _waiting(self, name: str, words: Words) -> Run:
        """A call that can be made later: its arguments are copied now, as a graph does."""
        if name == "launch":
            asked = self.asked_launch(words)
            return lambda: self.run_launch(asked)
        if name == "host_function":
            function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(words[0])
            return lambda: function(words[1])
        if name in ("child_graph", "cudaGraphLaunch"):
            runs = self._runs(words[0])
            return lambda: self._run_all(runs)
        if name in ("nothing", "wait_event", "record_event"):
            return lambda: None
        if name == "allocated":
            start = words[0]
            return lambda: self.memory.renew(start)
        if name == "cudaFreeAsync" and words[0] in self.graph_memory:
            return lambda: self.memory.forget(words[0])  # the next launch allocates it again
        kept, line = list(words), self.line()
        method = getattr(self, f"_{name}")

        def run() -> None:
            self.call, self.replayed = name, line
            method(kept)

        return run

    def asked_launch(self, words: Words) -> AskedLaunch:
        """A launch with its arguments. Raises Refused for no kernel."""
        raise NotImplementedError

    def run_launch(self, asked: AskedLaunch) -> None:
        """Run a launch now."""
        raise NotImplementedError

    # --- captures ---

    def _cudaStreamBeginCapture(self, w: Words) -> None:
        stream, mode, graph = w
        if stream < 2 or stream in self.captures:  # the default stream can't be captured
            raise Refused(CudaStatus.cudaErrorStreamCaptureUnsupported)
        made = self._object(graph, ProgramGraph) if graph else ProgramGraph()
        self.captures[stream] = Capture(made, stream, mode)

    def _cudaStreamEndCapture(self, w: Words) -> None:
        stream, out = w
        put(out, 0)
        capture = self.captures.get(stream)
        if capture is None or capture.origin != stream:
            raise Refused(CudaStatus.cudaErrorStreamCaptureUnmatched)
        self.captures = {s: c for s, c in self.captures.items() if c is not capture}
        if capture.broken:
            raise Refused(CudaStatus.cudaErrorStreamCaptureInvalidated)
        joined, more = set[GraphNode](), list(capture.tips.get(stream, []))
        while more:
            node = more.pop()
            if node not in joined:
                joined.add(node)
                more += node.after
        recorded = {node for tips in capture.tips.values() for node in tips}
        if recorded - joined:
            raise Refused(
                CudaStatus.cudaErrorStreamCaptureUnjoined,
                HostMistake.INVALID_CALL,
                "The capture ends while another stream still holds work of it: record an event "
                "there, and let the first stream wait for it with cudaStreamWaitEvent.",
            )
        put(out, self._handle(capture.graph))

    def _cudaStreamIsCapturing(self, w: Words) -> None:
        stream, status, number, graph = w
        capture = self.captures.get(stream)
        put_int(status, 0 if capture is None else 2 if capture.broken else 1)
        if capture is not None:
            put(number, id(capture))
            if graph:
                put(graph, self._handle(capture.graph))

    def _cudaThreadExchangeStreamCaptureMode(self, w: Words) -> None:
        mode = ctypes.c_int.from_address(w[0])
        mode.value, self.capture_mode = self.capture_mode, mode.value

    def _cudaEventRecord(self, w: Words) -> None:
        event, stream = w
        capture = self.captures.get(stream)
        self.event_tips.pop(event, None)
        if capture is not None:
            self.event_tips[event] = capture, list(capture.tips.get(stream, []))

    def _cudaStreamWaitEvent(self, w: Words) -> None:
        stream, event = w
        capture, tips = self.event_tips.get(event, (None, []))
        if capture is not None and capture in self.captures.values():
            self.captures[stream] = capture
            capture.tips[stream] = list(dict.fromkeys([*capture.tips.get(stream, []), *tips]))
