"""``python -m course_utils.emulator FILE.cu``: see :mod:`course_utils.kernel_tool.command`."""

import sys

from course_utils.kernel_tool.command import main

sys.exit(main())
