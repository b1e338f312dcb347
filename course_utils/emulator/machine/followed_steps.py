"""The steps of a basic block that observers follow instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterable

from ..findings.fault_messages import emulator_error
from ..findings.report import KernelFault
from .code import Block
from .lanes import Group
from .observer import Observer


def run_followed(
    group: Group, block: Block, followers: list[Observer], numbers: Iterable[int]
) -> None:
    """Run the steps of a block with these ``numbers``, and tell those who want to know of each."""
    joining = group.batch.joining
    for number in numbers:
        act, decoded = block.steps[number], block.decoded[number]
        if joining:
            followers += [observer for observer in joining if observer not in followers]
            joining.clear()
        for observer in followers:
            observer.instruction_starts(group, decoded)
        try:
            act(group)
        except KernelFault:
            raise
        except Exception as error:
            raise emulator_error(error, decoded.instruction, group) from error
        for observer in followers:
            observer.instruction_ends(group, decoded)
    if len(block.decoded) > len(block.steps):  # the last ends the block
        followers += [observer for observer in joining if observer not in followers]
        for observer in followers:
            observer.instruction_starts(group, block.decoded[-1])
