"""How the documentation is built: offline, cells executed, every warning an error (`-W`)."""

import html
import importlib.metadata
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import gamedp

sys.path.insert(0, str(Path(__file__).parent))

from playable import FIGURES, GAMES, with_problems, write_gallery, write_games
from registered import property_lines, with_solvers
from results import without_results

project = "gamedp"
author = "The gamedp authors"
project_copyright = "2026, The gamedp authors"
release = version = importlib.metadata.version("gamedp")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build"]

# Pages
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
os.environ["MATPLOTLIBRC"] = str(Path(__file__).with_name("matplotlibrc"))  # read by the cells
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # its default is to fetch them from elsewhere

# Reference
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings tell the types, with shapes
numpydoc_show_class_members = False  # they are listed with their docstrings
nitpicky = True
# Other projects' names cannot be looked up offline, and types are written for people: "(S,) float".
# A docstring may name an inner module, which has no page.
nitpick_ignore_regex = [("py:.*", r"(?!gamedp\b).*"), ("py:mod", ".*")]

# Site
html_theme = "furo"
html_title = f"gamedp {release}"
html_static_path = ["_static"]
html_favicon = "../src/gamedp/web/static/icon.svg"
html_css_files = ["wrap.css"]
html_js_files = ["frames.js"]
html_copy_source = False
html_show_sphinx = False


PARTS = [getattr(gamedp, name) for name in gamedp.__all__]
PACKAGES = [*(part for part in PARTS if isinstance(part, ModuleType)), gamedp]
PUBLIC = {name: f"{package.__name__}.{name}" for package in PACKAGES for name in package.__all__}
"""Where each public name is documented: in gamedp, or in one of its packages."""


def find_public_name(
    _app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node
) -> nodes.Node | None:
    """Resolve ``gamedp.model.model.Model`` to ``gamedp.Model``, under which it is documented."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("gamedp."):
        return None
    parts = target.split(".")
    for position, part in enumerate(parts):
        if part in PUBLIC:
            public = ".".join([PUBLIC[part], *parts[position + 1 :]])
            if public != target:
                domain = env.get_domain("py")
                return domain.resolve_xref(
                    env, node["refdoc"], _app.builder, "obj", public, node, content
                )
    return None


class Problem(Directive):
    """The small picture of a problem, and the link to its game."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "game": directives.unchanged,
        "why": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Return the HTML; the files that it shows are written after all pages."""
        name, said = self.arguments[0], html.escape(" ".join(self.content))
        play = f'<a href="play/index.html#{name}">Play it</a>'
        if "why" in self.options:
            play = html.escape(self.options["why"])
        picture = f'<img src="pictures/{name}.png" alt="{said}">'
        text = f'<figure class="problem">{picture}<figcaption>{play}</figcaption></figure>'
        return [nodes.raw("", text, format="html")]


def read_page(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Put lists of solvers and problems into pages that ask; leave kept results of cells out."""
    source[0] = with_problems(with_solvers(without_results(source[0])))


def list_properties(
    _app: Sphinx, what: str, _name: str, obj: Any, _options: Any, lines: list[str]
) -> None:
    """Put the properties that are computed once into the reference of a class."""
    if what == "class":
        lines += property_lines(obj)


def add_games(app: Sphinx, error: Exception | None) -> None:
    """Put the games that readers play beside the pages that embed them."""
    if error is None and app.builder.format == "html":
        write_games(Path(app.outdir) / "play", GAMES)
        write_games(Path(app.outdir) / "figure", FIGURES)
        write_gallery(Path(app.outdir) / "gallery")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what this file adds to Sphinx."""
    app.add_directive("problem", Problem)
    app.connect("missing-reference", find_public_name)
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", list_properties)
    app.connect("build-finished", add_games)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
