"""Spares every process of the tests 1.5 seconds of its start; a plugin of pytest.

nbformat imports jsonschema, and that a package which builds a grammar of internationalised web
addresses. jsonschema goes on where it is missing, and no check of a notebook asks for it.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
