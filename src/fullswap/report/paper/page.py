"""The sections as one page that asks nothing of anybody, and the words that every rendering shares.

The page is a function of the sections and of the facts about the runs: no date, no host, no
settings of the reader's matplotlib. The same summary gives the same bytes.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Literal

from fullswap.report.paper.section import Block, Paragraph, Picture, Section, Table
from fullswap.report.style import figures

TITLE = "What the paper says and what we measured"
RUNS_TITLE = "About these runs"
PIXELS_A_POINT = 96 / 72

# ------------------------------------------------------------------------ words of the page itself


def introduction(about: Mapping[str, Any]) -> tuple[Paragraph, ...]:
    """What the page is, and what its three kinds of numbers mean."""
    scale = {
        "quick": " These are **quick** runs: short horizons and few seeds. They show that "
        "everything works; exponents are better read from full runs.",
        "full": "",
    }
    return (
        Paragraph(
            "This page sets the results of “Full Swap Regret and Discretized Calibration” "
            "(Maxwell Fishelson, Robert Kleinberg, Princewill Okoroafor, Renato Paes Leme, "
            "Jon Schneider and Yifeng Teng, ALT 2025) beside what the package `fullswap` "
            "measures. Each section names the command that makes its numbers."
            + scale[about["scale"]]
        ),
        Paragraph(
            "**Measured** is what happened in a run: the regret of the distributions that were "
            "played, as in the paper, not of single draws (the section on recalibration scores "
            "draws too). It is attained by an explicit swap; for losses that are neither linear "
            "nor quadratic the true value may be larger, in one dimension by at most 0.001·L·D·T. "
            "The worst measured value is the largest over the adversaries that played; another "
            "adversary may do more harm."
        ),
        Paragraph(
            "**Guaranteed** is what a theorem promises before the first round, constants "
            "included, whoever the adversary is, as long as losses keep the promises of their "
            "class and the number of rounds is known beforehand. Measured and guaranteed numbers "
            "stand apart."
        ),
        Paragraph(
            "**Exponents** are slopes of least-squares lines through logarithms. The interval "
            "beside one is Student’s, at 95 % if deviations from the line were independent, which "
            "maxima over adversaries need not be: it tells of noise and of curvature within the "
            "measured range, not of what happens beyond it. The paper’s exponents are upper "
            "bounds, whoever the adversary is. A measured one far below has two possible reasons, "
            "which no measurement can tell apart: the adversaries found are not the worst case, or "
            "the bound is not tight."
        ),
    )


def facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is known about the runs, as names and values.

    Examples
    --------
    >>> facts({"scale": "full", "seed": 0, "versions": ["python 3.11.7", "numpy 2.1.0"],
    ...        "revisions": ["git 1a2b3c"], "runs": 1200, "cpu_seconds": 95.04})[3:5]
    [('CPU time', '95 s'), ('Versions', 'python 3.11.7, numpy 2.1.0')]
    """
    if about["scale"] not in ("quick", "full"):
        raise ValueError(f'scale must be "quick" or "full", got {about["scale"]!r}')
    found = [
        ("Scale", about["scale"]),
        ("Seed", str(about["seed"])),
        ("Rows of results", f"{about['runs']:,}"),
        ("CPU time", _duration(about["cpu_seconds"])),
        ("Versions", ", ".join(about["versions"])),
        ("Source", ", ".join(about["revisions"])),
    ]
    return [(name, value) for name, value in found if value]


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{figures(seconds)} s"
    return f"{figures(seconds / 60)} min" if seconds < 7200 else f"{figures(seconds / 3600)} h"


# ------------------------------------------------------------- what both renderings must agree on

_SPANS = re.compile(r"`(?P<code>[^`]+)`|\*\*(?=\S)(?P<strong>.+?)(?<=\S)\*\*", re.DOTALL)
_ONE = r"[≤≥<>≈~×]?\s?[+−-]?(?:\d[\d,\u2009\u202f]*)?\.?\d+(?:e[+−-]?\d+|/\d+)?\s?[%×]?"
_NUMBER = re.compile(rf"{_ONE}(?:\s?±\s?{_ONE})?(?:\s?[(\[]{_ONE}(?:,| to|–|…)\s?{_ONE}[)\]])?")
_NOTHING = {"", "-", "–", "—"}


def spans(text: str) -> Iterator[tuple[Literal["plain", "strong", "code"], str]]:
    """Parts of a paragraph in order, each with its kind.

    Examples
    --------
    >>> list(spans("run `a*b`, **now**"))
    [('plain', 'run '), ('code', 'a*b'), ('plain', ', '), ('strong', 'now')]
    """
    end = 0
    for found in _SPANS.finditer(text):
        if found.start() > end:
            yield "plain", text[end : found.start()]
        if found["code"] is not None:
            yield "code", found["code"]
        else:
            yield "strong", found["strong"]
        end = found.end()
    if end < len(text):
        yield "plain", text[end:]


def is_number(cell: str) -> bool:
    """Whether a cell is read as a number: sign, %, ×, ≤, fraction, an interval in brackets.

    Examples
    --------
    >>> [is_number(cell) for cell in ("−1,234.5", "≤ 3 %", "0.50 (0.45 to 0.55)", "2/3", "row 5")]
    [True, True, True, True, False]
    """
    return _NUMBER.fullmatch(cell.strip()) is not None


def numeric_columns(table: Table) -> list[bool]:
    """Whether each column holds more numbers than words; empty cells and dashes count as neither.

    Examples
    --------
    >>> numeric_columns(Table("", ("set", "regret"), (("disc", "3.2"), ("cube", "—"))))
    [False, True]
    """
    wrong = [row for row in table.rows if len(row) != len(table.columns)]
    if wrong or not table.columns:
        raise ValueError(
            f"rows of a table must have as many cells as it has columns, at least 1: "
            f"{table.caption!r} has {len(table.columns)} columns and rows {wrong!r}"
        )
    columns = [[row[k] for row in table.rows] for k in range(len(table.columns))]
    said = [[cell for cell in cells if cell.strip() not in _NOTHING] for cells in columns]
    return [2 * sum(map(is_number, cells)) > len(cells) for cells in said]


# --------------------------------------------------------------------------------------- pictures


def files(sections: Sequence[Section]) -> dict[str, bytes]:
    """Every picture as ``figures/<name>.svg`` and ``figures/<name>.png``, drawn once.

    The reader's own settings of matplotlib are set aside meanwhile, text becomes outlines, and
    identifiers are hashed with a fixed salt, so that the bytes depend on the picture alone.
    """
    pictures = [b for section in sections for b in section.blocks if isinstance(b, Picture)]
    names = [picture.name for picture in pictures]
    for name in names:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or names.count(name) > 1:
            raise ValueError(
                f"names of pictures must be of a-z, 0-9, - and _, each used once, got {name!r}"
            )
    if not pictures:
        return {}
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'fullswap[plot]'") from error

    drawn: dict[str, bytes] = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "fullswap", "svg.fonttype": "path"})
        for picture in pictures:
            figure = picture.draw()
            svg, png = io.BytesIO(), io.BytesIO()
            told = {"Creator": "fullswap", "Date": None}
            figure.savefig(svg, format="svg", metadata=told)
            figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
            drawn[f"figures/{picture.name}.svg"] = svg.getvalue()
            drawn[f"figures/{picture.name}.png"] = png.getvalue()
    return drawn


# ------------------------------------------------------------------------------------------- HTML


def html(
    sections: Sequence[Section],
    about: Mapping[str, Any],
    drawn: Mapping[str, bytes] | None = None,
) -> str:
    """One page that loads nothing: pictures and style lie within it.

    Parameters
    ----------
    sections : sequence of Section
        At least one.
    about : mapping
        ``scale`` ("quick" or "full"), ``seed``, ``runs``, ``cpu_seconds``, ``versions`` and
        ``revisions`` (lists of text).
    drawn : mapping, optional
        What `files` gave for these sections; without it the pictures are drawn now.
    """
    if not sections:
        raise ValueError("sections must hold at least one section, got none")
    told = facts(about)
    drawn = files(sections) if drawn is None else drawn
    anchors = _anchors([section.title for section in sections])
    places = dict(zip(anchors, (section.title for section in sections), strict=True))
    links = "\n".join(f'<li><a href="#{a}">{escape(t)}</a></li>' for a, t in places.items())
    bodies = "\n".join(
        _section(section, anchor, drawn) for section, anchor in zip(sections, anchors, strict=True)
    )
    opening = "\n".join(_paragraph(paragraph) for paragraph in introduction(about))
    closing = "\n".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in told)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{TITLE}</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>{TITLE}</h1>
{opening}
</header>
<nav aria-label="Contents">
<ul>
{links}
</ul>
</nav>
<main>
{bodies}
</main>
<footer>
<h2>{RUNS_TITLE}</h2>
<dl>
{closing}
</dl>
</footer>
</body>
</html>
"""


def _anchors(titles: Sequence[str]) -> list[str]:
    """A place for each title; equal titles get places of their own."""
    anchors: list[str] = []
    for title in titles:
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
        others = (f"{plain}-{k}" for k in range(2, len(titles) + 2))
        taken = plain in anchors
        anchors.append(next(a for a in others if a not in anchors) if taken else plain)
    return anchors


def _section(section: Section, anchor: str, drawn: Mapping[str, bytes]) -> str:
    blocks = "\n".join(_block(block, drawn) for block in section.blocks)
    return (
        f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(section.title)}</h2>\n'
        f'<p class="command">Made with <code>{escape(section.command)}</code></p>\n'
        f"{blocks}\n</section>"
    )


def _block(block: Block, drawn: Mapping[str, bytes]) -> str:
    if isinstance(block, Paragraph):
        return _paragraph(block)
    if isinstance(block, Table):
        return _table(block)
    return _picture(block, drawn[f"figures/{block.name}.svg"])


def _paragraph(paragraph: Paragraph) -> str:
    tags = {"plain": ("", ""), "strong": ("<strong>", "</strong>"), "code": ("<code>", "</code>")}
    parts = (tags[kind][0] + escape(text) + tags[kind][1] for kind, text in spans(paragraph.text))
    return f"<p>{''.join(parts)}</p>"


def _table(table: Table) -> str:
    kinds = [' class="number"' if numeric else "" for numeric in numeric_columns(table)]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column)}</th>'
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = "\n".join(
        f'<tr><th scope="row"{kinds[0]}>{escape(row[0])}</th>'
        + "".join(
            f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row[1:], kinds[1:], strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    caption = escape(table.caption)
    return (
        f'<div class="wide table" role="region" tabindex="0" aria-label="{caption}">\n<table>\n'
        f"<caption><span>{caption}</span></caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _picture(picture: Picture, svg: bytes) -> str:
    size = re.search(rb'<svg [^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if size is None:
        raise ValueError(f"pictures must be drawn by files, got {svg[:80]!r} for {picture.name!r}")
    width, height = (round(PIXELS_A_POINT * float(points)) for points in size.groups())
    data = base64.b64encode(svg).decode()
    caption = escape(picture.caption)
    return (
        f'<figure>\n<div class="wide card" role="group" tabindex="0" aria-label="Picture" '
        f'style="--width:{width}px">'
        f'<img src="data:image/svg+xml;base64,{data}" alt="{caption}" '
        f'width="{width}" height="{height}"></div>\n'
        f"<figcaption>{caption}</figcaption>\n</figure>"
    )


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
# Wide things scroll in a box of their own, so that the page itself never does, and tables show by
# a shade at the edge that they go on (covered by what scrolls with them at the end). Pictures keep
# their white ground in the dark and four fifths of their width on a phone, to be read.
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #57606a; --ground: #ffffff;
  --line: #d0d7de; --tint: #f3f5f7; --link: #0a58a8; --shade: #0002; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --quiet: #a3adb8; --ground: #15181c; --line: #3a424b; --tint: #20252b;
    --link: #7db7f5; --shade: #fff3; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 3rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: clamp(1.6rem, 1.2rem + 2vw, 2.25rem); line-height: 1.2; margin: 0 0 1.25rem; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .5rem; }
p, nav, dl, figcaption { max-width: 44rem; overflow-wrap: break-word; }
p { margin: 0 0 1rem; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code { font: .9em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  background: var(--tint); border-radius: 4px; padding: .1em .35em; overflow-wrap: anywhere; }
nav { margin: 1.5rem 0 0; padding: .75rem 1rem; background: var(--tint); border-radius: 8px; }
nav ul { margin: 0; padding-left: 1.2rem; }
nav li { padding: .15rem 0; }
section, footer { margin-top: 2.5rem; padding-top: 1.75rem; border-top: 1px solid var(--line); }
.command { color: var(--quiet); font-size: .925rem; }
.command code { display: inline-block; max-width: 100%; }
.wide { overflow-x: auto; margin: 1.5rem 0; }
.table { container-type: inline-size; background:
    linear-gradient(to right, var(--ground) 30%, transparent) left / 2rem 100% local,
    linear-gradient(to left, var(--ground) 30%, transparent) right / 2rem 100% local,
    linear-gradient(to right, var(--shade), transparent) left / .75rem 100% scroll,
    linear-gradient(to left, var(--shade), transparent) right / .75rem 100% scroll;
  background-repeat: no-repeat; }
table { border-collapse: collapse; font-size: .925rem; line-height: 1.4; }
caption { padding-bottom: .5rem; text-align: left; }
caption span { display: inline-block; position: sticky; left: 0; max-width: min(44rem, 100cqi);
  font-weight: 600; }
th, td { padding: .4rem .75rem; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line); }
th:first-child { padding-left: .25rem; }
thead th { font-weight: 600; vertical-align: bottom; border-bottom: 2px solid var(--quiet); }
tbody th { font-weight: 400; }
th:not(.number), td:not(.number) { min-width: 6.5rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
tbody .number { white-space: nowrap; }
figure { margin: 1.75rem 0; }
.card { width: calc(var(--width) + 1.5rem + 2px); max-width: 100%; margin: 0 0 .6rem;
  padding: .75rem; background: #ffffff; border: 1px solid var(--line); border-radius: 8px; }
.card img { display: block; width: max(100%, .8 * var(--width)); height: auto; }
figcaption { color: var(--quiet); font-size: .925rem; }
footer { color: var(--quiet); font-size: .925rem; }
footer h2 { font-size: 1.1rem; color: var(--ink); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem; margin: 0; }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  th, td { padding: .4rem .5rem; }
}
@media print {
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; container-type: normal; background: none; }
  .card { width: var(--width); padding: 0; border: 0; }
  .card img { width: 100%; }
  h2, .command, caption { break-after: avoid; }
  figure, tr, .wide { break-inside: avoid; }
}
"""
