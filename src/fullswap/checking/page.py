"""Reports as HTML: one file that needs nothing else, and a small piece for notebooks."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from fullswap.base.amounts import counted
from fullswap.checking import page_parts as parts
from fullswap.checking.page_parts_figures import (
    models_label,
    models_picture,
    picture_of,
    pictures_of,
)
from fullswap.checking.page_parts_svg import MISSING, Palette, themed_svg
from fullswap.checking.page_parts_words import odds, points, score, share, typeset
from fullswap.checking.pictures import model_parts
from fullswap.report.classes import draw_models

MOST_SEGMENTS = 50
"""Rows of the table of segments; the rest are counted."""
MOST_DATA = 40_000
"""Bytes of the copy for machines; a longer one is left out."""
MOST_MODELS = 8
"""Models of a comparison that get a picture each."""
MOST_IN_CARD = 20
"""Models in the table of a notebook; the rest are counted."""
MOST_DRAWN = 4
"""Models with a diagram in a notebook."""


def page_of(check: Any, *, title: str | None = None) -> str:
    """A whole HTML page about one check, without scripts and without any request.

    Parameters
    ----------
    check
        A `Check`.
    title
        Heading of the page, by default "Calibration check".
    """
    palette = Palette()
    pictures = pictures_of(check, palette)
    shown = check.segments[:MOST_SEGMENTS]
    failed = parts.failed_certainties(check)
    return filled(
        "page.html",
        palette,
        title=title or "Calibration check",
        check=check,
        answers=parts.answers_of(check),
        first=pictures[0],
        pictures=pictures[1:],
        segments=shown,
        segments_left=len(check.segments) - len(shown),
        facts=parts.facts_of(check),
        settings=parts.settings_of(check),
        notes=[*([failed] if failed else []), *check.notes],
        data=machine_text(check.to_json()),
    )


def fragment_of(check: Any) -> str:
    """A card for notebooks: verdict, four numbers, and the reliability diagram."""
    palette = Palette()
    return filled(
        "fragment.html",
        palette,
        check=check,
        answers=parts.answers_of(check),
        picture=picture_of(check, "reliability", palette, "n"),
    )


def fragment_of_comparison(comparison: Any) -> str:
    """A card for notebooks: the comparison in words, a table of the models, and a few diagrams."""
    palette = Palette()
    shown = dict(list(comparison.checks.items())[:MOST_IN_CARD])
    drawn, more = model_parts(comparison.checks, MOST_DRAWN)
    return filled(
        "comparison_fragment.html",
        palette,
        comparison=comparison,
        checks=shown,
        left=len(comparison.checks) - len(shown),
        models_svg=themed_svg(
            lambda: draw_models(drawn, more=more, columns=2),
            "n-models",
            models_label(comparison.checks),
            palette,
        ),
    )


def page_of_comparison(comparison: Any, *, title: str | None = None) -> str:
    """A whole HTML page about several models on the same events.

    Parameters
    ----------
    comparison
        A `Comparison`.
    title
        Heading of the page, by default "Calibration of … models".
    """
    palette = Palette()
    checks: dict[str, Any] = comparison.checks
    lowest = _lowest(checks)
    return filled(
        "comparison.html",
        palette,
        title=title or f"Calibration of {counted(len(checks), 'model')}",
        comparison=comparison,
        checks=checks,
        lowest=lowest,
        models=models_picture(checks, palette),
        pictures={
            name: picture_of(check, "reliability", palette, f"f{place}")
            for place, (name, check) in enumerate(checks.items())
            if place < MOST_MODELS
        },
        answers={name: parts.answers_of(check) for name, check in checks.items()},
        data=machine_text(comparison.to_json()),
    )


def _lowest(checks: dict[str, Any]) -> str:
    return min(checks, key=lambda name: float(checks[name].brier.score))


def filled(template: str, palette: Palette, **values: Any) -> str:
    """The template with these values; text that no file could hold is replaced."""
    from fullswap import __version__

    text = _environment().get_template(template).render(
        **values, palette=palette, version=__version__
    )  # fmt: skip
    return str(text).encode("utf-8", "replace").decode("utf-8")


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError(MISSING) from error
    folder = files("fullswap.checking") / "templates"

    def source(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        points=points,
        score=score,
        odds=odds,
        share=share,
        counted=counted,
        typeset=typeset,
        kind=parts.KINDS.__getitem__,
    )
    environment.filters["safe_svg"] = Markup
    environment.globals["style"] = Markup(source("page.css"))
    environment.globals["fragment_style"] = Markup(source("fragment.css"))
    return environment


def machine_text(text: str) -> str | None:
    """The numbers for machines, where they are few; never able to end its element."""
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text if len(text.encode("utf-8", "replace")) <= MOST_DATA else None
