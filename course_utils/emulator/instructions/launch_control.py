"""Cluster launch control: clusterlaunchcontrol.try_cancel and query_cancel (sm_100).

Source: PTX ISA, the pages of both instructions. Not run on a Blackwell GPU. A GPU starts as many
clusters as fit; here some wait, so that requests are granted: see
:meth:`..launching.emulated_launch.EmulatedLaunch`.
"""

from __future__ import annotations

import numpy as np

from ..findings.causes import Cause
from ..isa import ptx
from ..isa.instruction_set import Traits, step
from ..machine.async_state import KEY_SHIFT
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..machine.unstarted_clusters import CANCELLED, CancelAnswer, CancelRequest, control_of
from .bulk_copies import CopyPlace, aligned, bytes_at
from .mbarrier import BarrierSite

SIZE = 16  # bytes of an answer
U32 = np.dtype(np.uint32)


def _traits(modifiers: tuple[str, ...]) -> Traits:
    return Traits(memory="copy", async_proxy=True) if modifiers[0] == "try_cancel" else Traits()


@step("clusterlaunchcontrol", traits=_traits)
def clusterlaunchcontrol(b: Builder, i: ptx.Instruction) -> Step | None:
    """A request to cancel a cluster that hasn't started, or a question about its answer."""
    if i.modifiers[0] == "try_cancel":
        return _try_cancel(b, i)
    if i.modifiers[:2] == ("query_cancel", "is_canceled"):
        return _is_canceled(b, i)
    return _first_block(b, i) if i.modifiers[0] == "query_cancel" else None


def _try_cancel(b: Builder, i: ptx.Instruction) -> Step | None:
    """clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes
    {.multicast::cluster::all}.b128 [addr], [mbar];"""
    m = set(i.modifiers[1:])
    if {"async", "mbarrier::complete_tx::bytes", "b128"} - m:
        return None
    if (
        m
        - {"async", "mbarrier::complete_tx::bytes", "b128"}
        - {
            "shared::cta",
            "multicast::cluster::all",
        }
    ):
        return None
    target = CopyPlace(b, i.operands[0], "shared" if "shared::cta" in m else "generic")
    site, to_all = BarrierSite(b, i, i.operands[1]), "multicast::cluster::all" in m

    def act(group: Group) -> None:
        control, clusters = control_of(group), group.batch.clusters
        rows = zip(target.of(group), site.keys(group).tolist(), strict=True)
        for n, (address, key) in enumerate(rows):
            lane, own = int(group.lanes[n]), int(group.slots[n])
            control.may_ask(i, lane)
            aligned(group, n, i, "destination", address, SIZE)
            region, start, _ = bytes_at(group, n, i, address, SIZE, True)
            home = start // region.stride if region.owner == "block" else -1
            if home != own or key >> KEY_SHIFT != own:
                text = (
                    "asks for an answer or an arrival in memory that isn't its block's own shared "
                    "memory. Only .multicast::cluster::all brings answers to other blocks."
                )
                raise control.misuse(i, lane, Cause.ANSWER_TO_OTHER_BLOCK, text)
            ranks = range(clusters.size) if to_all and clusters is not None else [None]
            first = own // clusters.size * clusters.size if clusters is not None else own
            request = CancelRequest(group.batch)
            for rank in ranks:
                goal, at, _ = bytes_at(group, n, i, address, SIZE, True, rank)
                to = own if rank is None else first + rank
                group.batch.engine.start(
                    CancelAnswer(
                        i,
                        group.lanes[n : n + 1],
                        target=goal.view(U32),
                        put=at // U32.itemsize + np.arange(4)[None],
                        source=np.zeros(4, U32),
                        take=np.arange(4)[None],
                        regions=(goal, None),
                        complete=(to << KEY_SHIFT | key & (1 << KEY_SHIFT) - 1, SIZE),
                        request=request,
                    )
                )

    return act


def _is_canceled(b: Builder, i: ptx.Instruction) -> Step | None:
    """clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 pred, answer;"""
    if i.modifiers[2:] != ("pred", "b128"):
        return None
    put, get = b.write(i.operands[0], "pred"), b.read(i.operands[1], "b128")

    def act(group: Group) -> None:
        control = control_of(group)
        granted = control.read(group, i, get(group.R))[:, 3] == CANCELLED
        for slot in np.unique(group.slots[~granted]).tolist():
            control.refusal_seen[slot] = i
        put(group.R, granted)

    return act


def _first_block(b: Builder, i: ptx.Instruction) -> Step | None:
    """clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, z, _}, answer; or
    get_first_ctaid::dimension.b32.b128 reg, answer;"""
    name, _, axis = i.modifiers[1].partition("::")
    if name != "get_first_ctaid" or i.modifiers[2:] not in (("v4", "b32", "b128"), ("b32", "b128")):
        return None
    whole = i.modifiers[2] == "v4"
    if whole == (axis in ("x", "y", "z")):
        return None
    targets = list(ptx.items(i.operands[0]))[:3] if whole else [i.operands[0]]
    axes = [0, 1, 2] if whole else ["xyz".index(axis)]
    puts = [b.write(target, "b32") for target in targets]
    get = b.read(i.operands[1], "b128")

    def act(group: Group) -> None:
        control = control_of(group)
        words = control.read(group, i, get(group.R))
        refused = np.flatnonzero(words[:, 3] != CANCELLED)
        if len(refused):
            text = (
                "asks for the first block of a cluster that wasn't cancelled: the request was "
                "refused. Ask is_canceled first."
            )
            lane = int(group.lanes[refused[0]])
            raise control.misuse(i, lane, Cause.INDEX_OF_REFUSAL, text)
        for put, axis in zip(puts, axes, strict=True):
            put(group.R, np.ascontiguousarray(words[:, axis]))

    return act
