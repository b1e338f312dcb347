"""Figures drawn from data that was just measured or emulated.

Every function takes data and returns a :class:`matplotlib.figure.Figure`. A notebook shows it
when it is the cell's last line, or through ``display``. Nothing here touches pyplot's state.
"""

from __future__ import annotations

from ..shell import running_shell
from .address_maps import memory_map, struct_bytes
from .bit_words import word_fields
from .block_waves import block_timeline, waves
from .built_files import build_files
from .cell_grids import numbered_cells
from .decisions import decision_regions
from .growth_charts import growth
from .images import image_grid, image_pair
from .kind_bars import instruction_kinds
from .layout_maps import layout_map, thread_values
from .line_charts import curves, memory_roofs, series
from .marked_numbers import number_lines
from .matrix_fragments import fragments, number_formats, swizzle
from .memory_accesses import access_heatmap, shared_banks, warp_sectors
from .network_maps import activations
from .performance import ladder, roofline
from .reductions import active_lanes, reduction_tree
from .reflections import reflection
from .residency import occupancy_steps
from .searches import search_results
from .software_stacks import lines_and_times, software_stack
from .source_lines import source_heat
from .stall_charts import stalls
from .style import png, use_in_notebook
from .tensor_memory_maps import tensor_memory_areas
from .threads import thread_map
from .tile_prefixes import look_backs
from .tiles import product_tiles
from .timelines import timeline
from .value_graphs import value_graph
from .walks import access_orders
from .warps import warp_steps

__all__ = [
    "access_heatmap",
    "access_orders",
    "activations",
    "active_lanes",
    "block_timeline",
    "build_files",
    "curves",
    "decision_regions",
    "fragments",
    "growth",
    "image_grid",
    "image_pair",
    "instruction_kinds",
    "ladder",
    "layout_map",
    "lines_and_times",
    "look_backs",
    "memory_map",
    "memory_roofs",
    "number_formats",
    "number_lines",
    "numbered_cells",
    "occupancy_steps",
    "png",
    "product_tiles",
    "reduction_tree",
    "reflection",
    "roofline",
    "search_results",
    "series",
    "shared_banks",
    "software_stack",
    "source_heat",
    "stalls",
    "struct_bytes",
    "swizzle",
    "tensor_memory_areas",
    "thread_map",
    "thread_values",
    "timeline",
    "value_graph",
    "warp_sectors",
    "warp_steps",
    "waves",
    "word_fields",
]


def _register() -> None:
    shell = running_shell()
    if shell is not None:
        use_in_notebook(shell)


_register()
