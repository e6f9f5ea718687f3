"""The site of these pages: `make docs` builds it with Sphinx.

The source folder is the top of the repository, so that links from pages to the changelog or to a
source file lead to the same place on the site as in the repository.
"""

from __future__ import annotations

from docs.navigation import HOME

project = "vyre"
html_title = "vyre"
root_doc = HOME
extensions = ["myst_parser", "docs.site_extension"]

# Whatever is Markdown in docs is a page; outside, only what the navigation names.
include_patterns = ["docs/**.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/files/README.md"]
# Folders that are not even walked through.
exclude_patterns = [".*", "benchmarks", "build", "dist", "examples", "site", "src"]

# Anchors of headings have the names that they have where the repository is shown.
myst_heading_anchors = 4
# Quotes and dashes stay what the source says: `--device` is an option.
smartquotes = False
highlight_language = "text"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
# The pages are in site/docs, as in the repository; site/index.html leads there.
html_additional_pages = {"index": "redirect.html"}
html_copy_source = False
html_show_copyright = False
html_use_index = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
