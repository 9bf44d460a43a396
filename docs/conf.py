"""The site of the docs: ``make site`` builds it into out/site, without a network and without a warning."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))  # what writes pages and draws pictures for the site

import answers  # noqa: E402
import embedded  # noqa: E402
import links  # noqa: E402
import pictures  # noqa: E402
from jupyter_client import KernelManager  # noqa: E402

import reference  # noqa: E402
from potentia.version import __version__  # noqa: E402

OUT = HERE.parent / "out"

project = "potentia"
author = "The potentia developers"
project_copyright = author
version = release = __version__
html_title = "potentia"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_site", "channels", "maps", "site"]
nitpicky = False
suppress_warnings = ["autosummary.import_cycle"]  # tables of the reference name things in full

# Pages
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Tutorials are run; where one fails, so does the site. Kernels warn where what they say is not encrypted.
if "transport_encryption" in KernelManager.class_trait_names():
    KernelManager.transport_encryption.default_value = "auto"
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_ipywidgets_js = {}  # nothing comes from elsewhere

# The reference
autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_default_options = {"show-inheritance": True}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# How it looks
html_theme = "pydata_sphinx_theme"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_js_files = [("search.js", {"defer": "defer"})]
html_extra_path = [str(OUT / "embedded")]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "gallery": []}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_depth": 3,
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "search_bar_text": "How do I …",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_search_language = "en"


def setup(app):
    """Write what pages are made of before they are read."""
    app.connect("config-inited", lambda app, config: reference.write(HERE / "reference"))
    app.connect("config-inited", lambda app, config: answers.write(HERE / "how-do-i.md", HERE / "how"))
    app.connect("config-inited", lambda app, config: embedded.write(OUT / "embedded" / "played"))
    app.connect("source-read", answers.listed)
    app.connect("source-read", links.inside)
    app.connect("include-read", links.beside)
    app.connect("doctree-resolved", pictures.named)
    app.connect("autodoc-process-docstring", reference.plain_bars)
