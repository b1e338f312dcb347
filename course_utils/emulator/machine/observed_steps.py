"""The steps of a basic block that observers follow instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterable

from ..findings.fault_messages import emulator_error
from ..findings.report import KernelFault
from .code import Block
from .lanes import Group
from .observer import Observer


def run_observed(
    group: Group, block: Block, watching: list[Observer], numbers: Iterable[int]
) -> None:
    """Run the steps of a block with these ``numbers``, and tell those who want to know of each."""
    subscribing = group.batch.scheduler.subscribing
    for number in numbers:
        act, decoded = block.steps[number], block.decoded[number]
        if subscribing:
            watching += [observer for observer in subscribing if observer not in watching]
            subscribing.clear()
        for observer in watching:
            observer.instruction_starts(group, decoded)
        try:
            act(group)
        except KernelFault:
            raise
        except Exception as error:
            raise emulator_error(error, decoded.instruction, group) from error
        for observer in watching:
            observer.instruction_ends(group, decoded)
    if len(block.decoded) > len(block.steps):  # the last ends the block
        watching += [observer for observer in subscribing if observer not in watching]
        for observer in watching:
            observer.instruction_starts(group, block.decoded[-1])
