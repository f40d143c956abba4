# SPDX-License-Identifier: MIT
"""The site, as Sphinx makes it of the pages that stage.py has put into a folder."""

import os
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent

project = "unseen"
language = "en"
smartquotes = False
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "index"
suppress_warnings = ["toc.not_included"]

# Markdown as the pages have it: GitHub's, with its anchors.
myst_enable_extensions = ["linkify"]
myst_linkify_fuzzy_links = False
myst_heading_anchors = 4
highlight_language = "none"

# The docstrings are sentences with `code`.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "groupwise"

html_theme = "furo"
html_title = "unseen"
html_static_path = [str(HERE / "site.css")]
html_css_files = ["site.css"]
html_extra_path = [os.environ["UNSEEN_PLANNER"]]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
templates_path = [str(HERE)]
html_sidebars = {
    "**": ["sidebar/brand.html", "sidebar/search.html", "planner.html", "sidebar/scroll-start.html",
           "sidebar/navigation.html", "sidebar/scroll-end.html"],
}
# Only what is typed is copied: neither prompts nor answers.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True


def set_language(app, pagename, templatename, context, doctree):
    if pagename == "README.zh" or pagename.startswith("docs/zh/"):
        context["language"] = "zh-CN"


def as_rst(app, what, name, obj, options, lines):
    """The docstrings are plain text, with a paragraph "name: what it is" for each parameter."""
    made, is_parameter = [], False
    for line in lines:
        if not line.lstrip().startswith(">>>"):
            line = "".join(part if part.startswith("`") else re.sub(r"([*|\\])", r"\\\1", part)
                           for part in re.split(r"(`[^`]*`)", line))
        found = re.match(r"([a-z_]+(?:, [a-z_]+)*): (.*)", line)
        if found:
            line = f"- `{found[1]}`: {found[2]}"
            if not is_parameter:
                made.append("")
        elif is_parameter and line.startswith("    "):
            line = "  " + line.lstrip()
        is_parameter = bool(found) or is_parameter and line.startswith("  ")
        made.append(line)
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", as_rst)
    app.connect("html-page-context", set_language)
