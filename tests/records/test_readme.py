"""The README's figures, numbers and links come from what is in the repository."""

import base64
import json
import re

from course_utils.paths import README, ROOT
from course_utils.records.measured_files import REFERENCE, measurements
from course_utils.records.readme_table import PAGE, page, with_table

TEXT = README.read_text(encoding="utf-8")


def test_the_table_is_drawn_from_the_stored_measurements():
    assert with_table(TEXT, measurements("kernels", REFERENCE)) == TEXT


def test_of_sizes_with_as_many_bytes_the_one_with_more_work_is_entered():
    content = measurements("kernels", REFERENCE)
    flash = [r for r in content["records"] if r["kernel"] == "flash_pipeline"]
    assert len({r["bytes"] for r in flash}) == 1 < len({r["flops"] for r in flash})
    most = max(flash, key=lambda record: record["flops"])
    for records in (flash, flash[::-1]):
        (row,) = [x for x in with_table(TEXT, {**content, "records": records}).splitlines()
                  if "| flash_pipeline |" in x]  # fmt: skip
        assert " × ".join(f"{extent:,}" for extent in most["size"]) in row


def test_the_page_of_all_records_is_drawn_from_them_and_linked():
    assert page(measurements("kernels", REFERENCE)) == PAGE.read_text(encoding="utf-8")
    assert f"]({PAGE.relative_to(ROOT)})" in TEXT


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", TEXT)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert missing == []


def test_the_figure_is_one_that_a_notebook_shows():
    images = set()
    for path in ROOT.glob("chapters/*/*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                if picture := output.get("data", {}).get("image/png"):
                    images.add(base64.b64decode(picture))
    for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", TEXT):
        assert (ROOT / link).read_bytes() in images


def test_every_notebook_and_chapter_is_on_the_map():
    for path in ROOT.glob("chapters/*/*.ipynb"):
        title = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"][0].strip("# \n")
        assert title in TEXT
