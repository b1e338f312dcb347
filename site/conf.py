"""The course as a website: every notebook with its stored outputs. `make site` builds it.

The pages are the repository's own files and those that course_pages.py draws in build/drawn. No
notebook runs.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import home_page  # noqa: E402

from course_utils.notebooks.hosted_cells import BRANCH, repository_address  # noqa: E402

project = "A CUDA course in notebooks"
author = "The course authors"
extensions = ["myst_nb", "sphinx_copybutton", "course_pages"]

root_doc = "README"
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "INSTALL.md",
    "RECORDS.md",
    "kernels/README.md",
    "site/README.md",
    "tests/README.md",
    "chapters/*/README.md",
    "chapters/*/*.ipynb",
    "assets/**/*.md",
    "course_utils/README.md",
    "course_utils/**/*.md",
    "build/drawn/*.md",
]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 4
myst_heading_slug_func = "course_pages.address_of_heading"
# A cell's magic is no Python, and a file that is no page is offered for download.
suppress_warnings = ["misc.highlighting_failure", "mystnb.unknown_mime_type"]

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["static"]
templates_path = ["templates"]
html_additional_pages = {"index": "home.html"}
html_context = {"home": home_page.context(), "default_mode": "auto"}
html_favicon = "static/favicon.svg"
# Sphinx looks for it before the build draws what it holds, and warns if it's missing.
home_page.EXTRA.mkdir(parents=True, exist_ok=True)
html_extra_path = [home_page.EXTRA.as_posix()]
html_css_files = ["course.css"]
html_js_files = ["pages.js"]
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "use_download_button": False,
}
if address := repository_address():  # once pyproject.toml has it, pages open in Colab and Binder
    html_theme_options |= {
        "repository_url": address,
        "repository_branch": BRANCH,
        "use_repository_button": True,
        "launch_buttons": {
            "colab_url": "https://colab.research.google.com",
            "binderhub_url": "https://mybinder.org",
            "notebook_interface": "jupyterlab",
        },
    }
