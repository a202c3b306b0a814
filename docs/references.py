"""``python docs/references.py``: docs/references.md, from the keys that the package cites."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from fullswap.theorems.citations import CITATIONS, PAPER  # noqa: E402

PAGE = Path(__file__).parent / "references.md"
HEAD = """# References

What the keys in brackets stand for, in certificates (`[FKO25, Lemma 26]`), in these pages and in
the source. The page is made from `fullswap.theorems.CITATIONS` by `make references`.

## The paper

**{paper}**: {whole}

Theorems, lemmas, corollaries and definitions share one count there; algorithms, tables and the
question have their own. The numbers were counted in the paper's LaTeX source, by the rules of the
proceedings' class; what each result says and where it stands is beside it, should a version differ.
[Errata](errata.md) says where a proof needs mending.

| cited as | what it is, and the section (letters: appendices) |
|---|---|
{rows}

## Shown here

{own}

## Other work

{others}
"""


def linked(text: str) -> str:
    """Addresses, arXiv numbers and pages beside this one as links."""
    text = re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", text)
    text = re.sub(r"https://\S+", lambda found: f"<{found[0]}>", text)
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", text)


def page() -> str:
    """The page as it should be."""
    parts = {key: text for key, text in CITATIONS.items() if key.startswith(f"{PAPER}, ")}
    own = {key: text for key, text in CITATIONS.items() if key.startswith("fullswap")}
    others = {key: CITATIONS[key] for key in sorted({*CITATIONS} - {*parts} - {*own} - {PAPER})}
    bullets = [
        "\n".join(f"- **{key}**: {linked(text)}" for key, text in group.items())
        for group in (own, others)
    ]
    rows = "\n".join(f"| {key} | {text} |" for key, text in parts.items())
    return HEAD.format(
        paper=PAPER, whole=linked(CITATIONS[PAPER]), rows=rows, own=bullets[0], others=bullets[1]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
