"""Runs the launches that a kernel made, after its grid has ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..findings.options import Options
from ..findings.report import Finding, KernelFault
from ..machine.child_launches import ChildLaunch, ChildLaunches
from ..memory.address_space import GLOBAL
from .launch_result import LaunchResult

if TYPE_CHECKING:
    from .emulated_launch import EmulatedLaunch
    from .emulated_module import EmulatedModule


def run_children(
    module: EmulatedModule, children: ChildLaunches, options: Options, result: LaunchResult
) -> None:
    """Run the work that a grid asked for. ``result``, that grid's, gets all findings and text.
    Raises KernelFault for a fault of a kernel that it launched."""
    work = children.take()
    if not work:
        return
    options = replace(
        options,
        cluster=None,
        counters=False,
        threads=False,
        first_nan="",
        trace=None,
        recorder=None,
    )
    try:
        while work:
            task = work.pop(0)
            if isinstance(task, ChildLaunch):
                _run(module, children.depth + 1, task, options, result)
            else:
                task()
    finally:
        for task in work:
            if isinstance(task, ChildLaunch):
                GLOBAL.free(task.arguments)


def _run(
    module: EmulatedModule, depth: int, child: ChildLaunch, options: Options, result: LaunchResult
) -> None:
    entry = module.entry(child.name)
    arguments = entry.arguments_in(child.arguments.storage.tobytes())
    GLOBAL.free(child.arguments)
    try:
        shape = child.grid, child.block
        found = entry.launch_at_depth(depth, *shape, arguments, child.shared, (), options, child)
    except KernelFault as fault:
        raise KernelFault(fault.finding, [*result.findings, *fault.earlier]) from fault
    result.findings += found.findings
    result.printed += found.printed
    result.unchanged += found.unchanged


def run_one(launch: EmulatedLaunch, child: ChildLaunch | None) -> LaunchResult:
    """Run a launch without its own launches. Where it is a ``child``, its findings say so. Raises
    the KernelFault that ends it."""
    if child is None:
        return launch.run()
    try:
        result = launch.run()
    except KernelFault as fault:
        earlier = [_told(finding, child) for finding in fault.earlier]
        raise KernelFault(_told(fault.finding, child), earlier) from fault
    result.findings = [_told(finding, child) for finding in result.findings]
    return result


def _told(finding: Finding, child: ChildLaunch) -> Finding:
    return replace(finding, message=f"{finding.message}\n  In {child}.")
