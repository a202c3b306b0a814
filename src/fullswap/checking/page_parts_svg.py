"""Figures as small inline SVG that follows the theme of the page it stands in.

Pictures are drawn in black on white. Each of their colours becomes a variable of the page's style
sheet, which has another value where the page is dark.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from fullswap.report.style import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = "reports need matplotlib and jinja2: pip install 'fullswap[report]'"
DARK_FACE = 0x18, 0x1C, 0x20
"""Colour of the cards of a dark page; those of a light one are white."""
LIGHT_COLOURS = "#0067a3", "#b84a00", "#00734f", "#a3315e", "#8a6100", "#2f7fb5"
DARK_COLOURS = "#69b3ee", "#f79862", "#4fc49a", "#ee8fb4", "#dfb247", "#b5e0fb"
"""For the colours of pictures, such as make words readable on the cards."""
LARGEST = 1.3
"""By how much a picture may be enlarged where there is room."""

_TABLE = {
    name.lower(): pair
    for name, *pair in zip(PALETTE, LIGHT_COLOURS, DARK_COLOURS, strict=True)
}  # fmt: skip
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_LEVEL = re.compile(r"rotate\(-?0 [^)]*\)$")
"""Text that is not turned at all."""
_KEPT = ("fill", "stroke", "opacity", "text-anchor", "font-weight")
"""Beginnings of the properties of a style that a browser needs to be told."""
_DEFAULTS = ("stroke:none", "stroke-linecap:butt", "opacity:1")


@dataclass
class Palette:
    """The colours of a page's pictures: each the name of a variable, light and dark."""

    names: dict[str, str] = field(default_factory=dict)

    def variable(self, colour: str) -> str:
        """The variable of this colour, as CSS."""
        return f"var({self.names.setdefault(colour.lower(), f'--k{len(self.names)}')})"

    def declared(self, dark: bool) -> str:
        """Declarations of all variables for one theme."""
        return "".join(f"{name}:{shown(key, dark)};" for key, name in self.names.items())


def shown(colour: str, dark: bool) -> str:
    """A colour of a picture as it is shown on a light or a dark card.

    Greys are so much black on white; they become as much white on the dark card.

    Examples
    --------
    >>> shown("#ffffff", dark=True), shown("#000000", dark=True), shown("#000000", dark=False)
    ('#181c20', '#ffffff', '#000000')
    """
    if colour in _TABLE:
        return _TABLE[colour][dark]
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    if not dark or not red == green == blue:
        return colour
    ink = 1 - red / 255
    return "#" + "".join(f"{round(255 * ink + face * (1 - ink)):02x}" for face in DARK_FACE)


def themed_svg(draw: Callable[[], Figure], name: str, label: str, palette: Palette) -> str:
    """The figure that `draw` makes, as an SVG element whose ids begin with `name`.

    `label` says in one sentence what is seen; the colours join `palette`.
    """
    root = ElementTree.fromstring(_drawn(draw))
    writer = _Writer(name, palette, _references(root))
    box = _short(root.attrib["viewBox"])
    width = LARGEST * float(box.split()[2]) * 96 / 72
    black = palette.variable("#000000")  # which is meant where no colour is written
    head = (
        f'<svg class="picture" viewBox="{box}" style="max-width:{width:.0f}px;fill:{black}" '
        f'role="img" aria-label="{escape(label)}" stroke-linejoin="round">'
    )
    return f"{head}{''.join(map(writer.written, root))}</svg>"


def _drawn(draw: Callable[[], Figure]) -> str:
    """The drawing as matplotlib writes it, whatever settings the user has."""
    try:
        from matplotlib import style
    except ImportError as error:
        raise ImportError(MISSING) from error
    written = StringIO()
    look = {"svg.fonttype": "none", "svg.hashsalt": "fullswap", "axes.labelsize": 9}
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

    def written(self, element: ElementTree.Element) -> str:
        tag = _bare(element.tag)
        if tag in ("metadata", "style"):
            return ""
        attributes = "".join(self._attributes(element))
        worded = tag in ("text", "tspan")
        inner = escape(element.text or "", quote=False) if worded else ""
        for child in element:
            inner += self.written(child)
            inner += escape(child.tail or "", quote=False) if worded else ""
        if tag in ("g", "defs") and not inner:
            return ""
        if tag == "g" and not attributes:
            return inner
        return f"<{tag}{attributes}>{inner}</{tag}>" if inner else f"<{tag}{attributes}/>"

    def _attributes(self, element: ElementTree.Element) -> Iterator[str]:
        for key, value in element.attrib.items():
            bare = _bare(key)
            if bare == "id":
                if value in self.references:
                    yield f' id="{self._id(value)}"'
            elif bare == "href":
                yield f' href="#{self._id(value[1:])}"'
            elif bare == "style":
                if kept := ";".join(self._style(value)):
                    yield f' style="{escape(kept)}"'
            elif not _LEVEL.match(value):
                text = _REFERENCE.sub(lambda m: f"url(#{self._id(m[1])})", value)
                yield f' {bare}="{escape(_short(" ".join(text.split())))}"'

    def _id(self, original: str) -> str:
        return f"{self.name}-{self.references[original]}"

    def _style(self, style: str) -> Iterator[str]:
        """Properties with variables for colours; families of fonts are left to the page."""
        for part in style.split(";"):
            key, _, value = (piece.strip() for piece in part.partition(":"))
            if key in ("font", "font-size"):
                size = re.search(r"[\d.]+px", value)
                yield from [f"font-size:{_short(size[0])}"] if size else []
                yield from ["font-weight:700"] if re.match("(bold|700) ", value) else []
            elif key.startswith(_KEPT):
                said = f"{key}:{_short(value)}"
                if said not in _DEFAULTS:
                    yield _COLOUR.sub(lambda match: self.palette.variable(match[0]), said)
