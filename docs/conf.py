"""How the pages become a site: `make docs` (Sphinx; Markdown is read by MyST)."""

import re
import sys
from pathlib import Path

from numpy.typing import ArrayLike
from sphinx.util.inspect import TypeAliasForwardRef
from sphinx.util.nodes import make_refnode
from sphinx.util.typing import stringify_annotation

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from fullswap import __version__  # noqa: E402

project = "fullswap"
author = "The fullswap authors"
copyright = "The fullswap authors, MIT licence"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True  # with `-W`, a name in backticks that is nowhere explained stops the build

myst_heading_anchors = 4

# --- the reference ----------------------------------------------------------------------------

autodoc_default_options = {
    "members": True,
    "undoc-members": True,  # fields that their names explain
    "no-value": True,
    "member-order": "bysource",
    # methods of these are explained elsewhere
    "inherited-members": "BaseEstimator, Exception, Protocol, Wrapper, dict, str, tuple",
}
autodoc_typehints = "signature"
ALIASES = ("ArrayLike", "Column", "Indices", "Points", "Vector")
autodoc_type_aliases = {name: name for name in ALIASES}
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
autosummary_generate = False
numpydoc_show_class_members = False
default_role = "py:obj"  # `Record` in a docstring is a link
suppress_warnings = ["ref.python"]  # two classes called Curve: each is found by its whole name

MOST_FIELDS = 10
ARRAY = r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[[~.\w]+(\[[~.\w]+\])?\]\]"
SHORT = {
    re.compile(re.escape(stringify_annotation(ArrayLike, "smart"))): "ArrayLike",
    re.compile(ARRAY): "NDArray",
    re.compile("<factory>"): "...",
}
"""What Sphinx makes of some annotations ↦ how they are written."""

# Inside a union, Sphinx shows an alias as its repr.
TypeAliasForwardRef.__repr__ = lambda alias: alias.name


def keep_bars(app, what, name, obj, options, lines):
    """|x| in a docstring is a length, not a substitution of reStructuredText."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("``")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[k] = "``".join(parts)


def shorten(app, what, name, obj, options, signature, returned):
    """Types by the names under which people know them; no list of what nobody gives by hand.

    A result of twenty fields is made by the package, and each field is explained beneath.
    """
    if what == "class" and len(getattr(obj, "__dataclass_fields__", ())) > MOST_FIELDS:
        return "", returned
    for long, short in SHORT.items():
        signature = signature and long.sub(short, signature)
        returned = returned and long.sub(short, returned)
    return signature, returned


def is_foreign(app, what, name, obj, skip, options):
    """Methods that other libraries bring along are explained there."""
    home = getattr(obj, "__module__", None) or "fullswap"
    return True if what == "class" and callable(obj) and not home.startswith("fullswap") else None


def find_by_last_name(app, env, node, text):
    """`fullswap.Record` and `Record` are where their module's page explains them.

    In signatures a name that no page explains (of numpy, say) stays plain text.
    """
    if node.get("refdomain") != "py":
        return None
    last = node["reftarget"].rpartition(".")[2]
    named = {
        entry.node_id: entry
        for name, entry in env.domains["py"].objects.items()
        if name.rpartition(".")[2] == last and entry.objtype in ("class", "function", "exception")
        and not entry.aliased
    }  # fmt: skip
    if len(named) == 1:
        (entry,) = named.values()
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, text)
    return text if node["reftype"] == "class" else None


# --- the site ---------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "fullswap"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "tutorial": [], "**": ["sidebar-nav-bs"]}
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

SECTIONS = ["Tutorial <tutorial>", "howto/index", "explanation/index", "reference/index"]
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
LISTED = re.compile(r"^[-*] \[.*?\]\(([\w./-]+)\.md\)", re.MULTILINE)


def toctree(pages, *options):
    """Navigation of some pages."""
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *pages, "```", ""])


def add_navigation(app, docname, source):
    """Pages stay plain Markdown: what a section's first page lists is its navigation.

    A page that no list names is an error, as a link to a page that does not exist is.
    """
    if docname == "index":
        source[0] += toctree(SECTIONS)
    elif docname in SECTIONS:
        # text before the first heading, then headings and texts by turns
        first, *others = HEADING.split(source[0])
        groups = [("", first), *zip(others[::2], others[1::2], strict=True)]
        for caption, text in groups:
            if pages := LISTED.findall(text):
                source[0] += toctree(pages, *[f":caption: {caption}"] * bool(caption))


def setup(app):
    """Connect the functions above."""
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-docstring", keep_bars)
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("missing-reference", find_by_last_name)
