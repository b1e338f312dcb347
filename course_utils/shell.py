"""The IPython shell that runs a notebook's cells."""

from __future__ import annotations

import sys
from typing import Any


def running_shell() -> Any:
    """The shell, or None outside of IPython; it is never loaded for this, because that is slow."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
