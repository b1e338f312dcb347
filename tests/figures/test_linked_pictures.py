"""A browser can draw every picture of the course: the test in a browser opens a few pages."""

from xml.etree import ElementTree

import pytest

from course_utils.paths import ROOT

SVG = "{http://www.w3.org/2000/svg}svg"
PICTURES = sorted((ROOT / "assets").rglob("*.svg"))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_drawing_is_whole_and_has_a_size(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == SVG
    assert root.get("viewBox") or (root.get("width") and root.get("height"))
