"""Promises that hold across the package: documented names, honest citations, a fast import."""

import inspect
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "fullswap"

LOADED_ON_FIRST_USE = ("numba", "scipy", "matplotlib", "sklearn", "river", "typer", "rich")

# "[FKO25, Thm 5]", "[BM07]", "[FKO25, Lem 2; BM07, Sec 3]": letters and a year open the bracket.
CITATION = re.compile(r"\[([A-Z][A-Za-z+]+\d{2}[a-z]?(?:[,;][^\[\]]*)?)\]")
THEOREM_MARK = re.compile(r"^\s*@pytest\.mark\.theorem\(\s*([\"'])(.+?)\1\s*,?\s*\)", re.MULTILINE)


def public_objects(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Names in `__all__`, and those of public submodules that declare an `__all__` of their own."""
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{module.__name__}.{name}", value
        if isinstance(value, ModuleType) and hasattr(value, "__all__"):
            yield from public_objects(value)


def is_documented(value: object) -> bool:
    if not (isinstance(value, ModuleType | type) or callable(value)):
        return True  # a plain constant carries the docstring of its type; nothing to check
    if isinstance(value, type):
        # Its own docstring, neither inherited nor the signature that dataclasses fill in.
        text = vars(value).get("__doc__") or ""
        return bool(text.strip()) and not text.startswith(f"{value.__name__}(")
    return bool((inspect.getdoc(value) or "").strip())


def citations(text: str) -> Iterator[str]:
    for match in CITATION.finditer(text):
        for part in match.group(1).split(";"):
            yield " ".join(part.split())


def cited_in_source() -> dict[str, set[str]]:
    """Citation key -> files whose strings or comments cite it."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        with tokenize.open(path) as stream:
            prose = "\n".join(
                token.string.lstrip("#")
                for token in tokenize.generate_tokens(stream.readline)
                if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE", "COMMENT")
            )
        for key in citations(prose):
            found.setdefault(key, set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_public_name_is_documented():
    import fullswap

    objects = dict(public_objects(fullswap))
    assert objects, "fullswap.__all__ is empty"
    assert [name for name, value in objects.items() if not is_documented(value)] == []


def test_citation_pattern_reads_keys_and_nothing_else():
    text = "[FKO25, Thm 5] and [BM07], see [FKO25,\n  Lem 2; GTH85, Sec 1]; not x[i, 12] or [T, 10]"
    assert list(citations(text)) == ["FKO25, Thm 5", "BM07", "FKO25, Lem 2", "GTH85, Sec 1"]


def test_every_citation_in_source_is_known():
    from fullswap.theorems import CITATIONS

    cited = cited_in_source()
    assert cited, "no citation found: the pattern or the source folder is wrong"
    assert {key: files for key, files in cited.items() if key not in CITATIONS} == {}


def test_every_result_cites_known_keys():
    from fullswap.theorems import CITATIONS, LEDGER

    keys = {name: result.keys for name, result in LEDGER.items()}
    assert all(keys.values())
    assert {name: cited for name, cited in keys.items() if not set(cited) <= set(CITATIONS)} == {}


def test_every_result_has_frozen_premises_and_words():
    from fullswap.theorems import LEDGER

    for name, result in LEDGER.items():
        assert result.name == name and len(result.statement) > 10
        assert is_dataclass(result.premises), name
        assert result.premises.__dataclass_params__.frozen, name


def test_every_result_is_measured_by_a_test():
    from fullswap.theorems import LEDGER

    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    measured = {name for text in texts for _, name in THEOREM_MARK.findall(text)}
    assert LEDGER, "fullswap.theorems.LEDGER is empty"
    assert set(LEDGER) - measured == set(), "results without a test"
    assert measured - set(LEDGER) == set(), "tests of results that do not exist"


def test_import_is_light():
    program = f"import sys, fullswap; print(*(set({LOADED_ON_FIRST_USE!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
