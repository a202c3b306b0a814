"""Figures as small inline SVG that follows the theme of the page it stands in.

A figure is drawn once for a light page and once for a dark one. Both drawings have the same
shapes, so each pair of colours becomes one variable of the page's style sheet.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = "reports need matplotlib and jinja2: pip install 'fullswap[report]'"
LIGHT = {
    "face": "#ffffff", "ink": "#1d232a", "muted": "#59636e", "line": "#8a949e",
    "cycle": ["#0067a3", "#b84a00", "#00734f", "#7d4e9f", "#8a6100", "#a3315e"],
}  # fmt: skip
DARK = {
    "face": "#181c20", "ink": "#e6e9ec", "muted": "#a5afb9", "line": "#77818b",
    "cycle": ["#69b3ee", "#f79862", "#4fc49a", "#c39de6", "#dfb247", "#ee8fb4"],
}  # fmt: skip
"""Colours of pictures; `face` is the colour of the cards that hold them."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_KEPT = ("fill", "stroke", "opacity", "text-anchor")
"""Beginnings of the properties of a style that a browser needs to be told."""
_DEFAULTS = {"stroke-linejoin: miter", "stroke-linecap: butt", "text-anchor: start", "opacity: 1"}


@dataclass
class Palette:
    """Pairs of colours, light and dark, and the variable that stands for each."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def variable(self, light: str, dark: str) -> str:
        """The variable of this pair, as CSS."""
        pair = light.lower(), dark.lower()
        if pair[0] == pair[1]:
            return pair[0]
        return f"var({self.names.setdefault(pair, f'--k{len(self.names)}')})"

    def declared(self, dark: bool) -> str:
        """Declarations of all variables for one theme."""
        return "".join(f"{name}:{pair[dark]};" for pair, name in self.names.items())


def themed_svg(draw: Callable[[], Figure], name: str, label: str, palette: Palette) -> str:
    """The figure that `draw` makes, as an SVG element whose ids begin with `name`.

    `label` says in one sentence what is seen; the colours join `palette`.
    """
    light, dark = (ElementTree.fromstring(_drawn(draw, theme)) for theme in (LIGHT, DARK))
    writer = _Writer(name, palette, _references(light))
    box = " ".join(_short(number) for number in light.attrib["viewBox"].split())
    width = float(box.split()[2]) * 96 / 72
    head = (
        f'<svg class="picture" viewBox="{box}" style="max-width:{width:.0f}px" role="img" '
        f'aria-label="{escape(label)}" stroke-linejoin="round">'
    )
    body = "".join(writer.written(*pair) for pair in zip(light, dark, strict=True))
    return f"{head}{body}</svg>"


def _drawn(draw: Callable[[], Figure], theme: dict[str, Any]) -> str:
    """One drawing as matplotlib writes it, whatever settings the user has."""
    try:
        from cycler import cycler
        from matplotlib import style
    except ImportError as error:
        raise ImportError(MISSING) from error
    face, ink, line = theme["face"], theme["ink"], theme["line"]
    look: dict[str, Any] = {
        "svg.fonttype": "none", "svg.hashsalt": "fullswap", "font.size": 9,
        "figure.facecolor": face, "axes.facecolor": face, "savefig.facecolor": "auto",
        "legend.facecolor": face, "legend.edgecolor": face, "text.color": ink,
        "axes.labelcolor": ink, "axes.titlecolor": ink, "axes.edgecolor": line,
        "xtick.color": line, "ytick.color": line, "xtick.labelcolor": ink,
        "ytick.labelcolor": ink, "grid.color": line, "axes.prop_cycle": cycler(color=theme["cycle"]),
    }  # fmt: skip
    written = StringIO()
    with style.context(["default", look]), warnings.catch_warnings():
        # Browsers bring fonts for what the measuring font lacks.
        warnings.filterwarnings("ignore", message="(Glyph|Matplotlib currently does not)")
        draw().savefig(written, format="svg", metadata={"Date": None})
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", written.getvalue())


def _bare(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def _references(root: ElementTree.Element) -> dict[str, int]:
    """Ids that other elements point to, numbered."""
    found: dict[str, int] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            used = [value[1:]] if _bare(key) == "href" else _REFERENCE.findall(value)
            for name in used:
                found.setdefault(name, len(found))
    return found


def _short(text: str) -> str:
    """The text with its numbers rounded to two decimals."""

    def rounded(match: re.Match[str]) -> str:
        number = f"{float(match.group()):.2f}".rstrip("0").rstrip(".")
        return "0" if number == "-0" else number

    return _NUMBER.sub(rounded, text)


@dataclass
class _Writer:
    """Elements as text, without what a browser does not need."""

    name: str
    palette: Palette
    references: dict[str, int]

    def written(self, light: ElementTree.Element, dark: ElementTree.Element) -> str:
        tag = _bare(light.tag)
        if tag in ("metadata", "style"):
            return ""
        attributes = "".join(self._attributes(light, dark, tag))
        inner = escape(light.text or "", quote=False) if tag in ("text", "tspan") else ""
        for pair in zip(light, dark, strict=True):
            inner += self.written(*pair)
            if tag in ("text", "tspan"):
                inner += escape(pair[0].tail or "", quote=False)
        if tag in ("g", "defs") and not inner:
            return ""
        if tag == "g" and not attributes:
            return inner
        return f"<{tag}{attributes}>{inner}</{tag}>" if inner else f"<{tag}{attributes}/>"

    def _attributes(
        self, light: ElementTree.Element, dark: ElementTree.Element, tag: str
    ) -> Iterator[str]:
        for key, value in light.attrib.items():
            bare = _bare(key)
            if bare == "id":
                if value in self.references:
                    yield f' id="{self._id(value)}"'
            elif bare == "href":
                yield f' href="#{self._id(value[1:])}"'
            elif bare == "style":
                if kept := self._style(value, dark.attrib[key], tag):
                    yield f' style="{escape(kept)}"'
            else:
                text = _REFERENCE.sub(lambda m: f"url(#{self._id(m[1])})", value)
                yield f' {bare}="{escape(_short(" ".join(text.split())))}"'

    def _id(self, original: str) -> str:
        return f"{self.name}-{self.references[original]}"

    def _style(self, light: str, dark: str, tag: str) -> str:
        """A style with variables for colours; families of fonts are left to the page."""
        kept = []
        for mine, other in zip(_properties(light), _properties(dark), strict=True):
            if mine.startswith(("font-size", "font:")):
                size = re.search(r"[\d.]+px", mine)
                kept += [f"font-size:{_short(size[0])}"] if size else []
            elif mine.startswith("font-weight") or (
                mine.startswith(_KEPT) and mine not in _DEFAULTS
            ):
                colours = iter(_COLOUR.findall(other))
                coloured = _COLOUR.sub(
                    lambda match: self.palette.variable(match[0], next(colours)),  # noqa: B023
                    mine,
                )
                kept.append(re.sub(r":\s+", ":", _short(coloured)))
        return ";".join(kept)


def _properties(style: str) -> list[str]:
    return [part.strip() for part in style.split(";") if part.strip()]
