"""The reference has every public name, and says what it is and which types it takes."""

import importlib
import inspect
import re
from functools import cached_property
from types import ModuleType

import pytest

import fullswap
from docs.blocks import ROOT

REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"^\.\. auto(module|class|function):: ([\w.]+)", re.MULTILINE)
BESIDE = (
    "fullswap.certificates", "fullswap.client", "fullswap.inputs", "fullswap.integrations.river",
    "fullswap.integrations.sklearn", "fullswap.integrations.spark", "fullswap.replay",
)  # fmt: skip
"""Public too, though not among the names of the package itself."""


def names_of(module: ModuleType) -> list[str]:
    """What it declares; else what is public and its own."""
    own = [name for name, value in vars(module).items()
           if getattr(value, "__module__", None) == module.__name__ and name[0] != "_"]  # fmt: skip
    return list(getattr(module, "__all__", own))


def public() -> dict[str, object]:
    found: dict[str, object] = {}

    def add(module: ModuleType) -> None:
        for name in names_of(module):
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                add(value)
            else:
                found.setdefault(f"{module.__name__}.{name}", value)

    for module in (fullswap, *map(importlib.import_module, BESIDE)):
        add(module)
    return found


def explained() -> list[object]:
    """All that directives of the reference take in."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    found: list[object] = []
    for kind, path in DIRECTIVE.findall(text):
        if kind == "module":
            module = importlib.import_module(path)
            found += [getattr(module, name) for name in names_of(module)]
        else:
            home, _, name = path.rpartition(".")
            found.append(getattr(importlib.import_module(home), name))
    return found


PUBLIC = public()
CALLED = {name: value for name, value in PUBLIC.items() if callable(value)}


def test_every_public_name_is_in_the_reference():
    known = explained()
    missing = [name for name, value in PUBLIC.items() if not any(value is one for one in known)]
    assert missing == []


def parts_of(name: str, value: object) -> dict[str, object]:
    """A function, or what is public of a class and written by us."""
    if not isinstance(value, type):
        return {name: value}
    own: dict[str, object] = {name: value}
    for key in dir(value):
        part = inspect.getattr_static(value, key)
        if isinstance(part, property):
            part = part.fget
        elif isinstance(part, cached_property):
            part = part.func
        elif isinstance(part, (staticmethod, classmethod)):
            part = part.__func__
        home = getattr(part, "__module__", None) or ""
        shown = key[0] != "_" or key == "__init__"
        if shown and inspect.isfunction(part) and home.startswith("fullswap"):
            own[f"{name}.{key}"] = part
    return own


@pytest.mark.parametrize("name", CALLED)
def test_what_is_called_has_a_docstring_and_types(name):
    for part_name, part in parts_of(name, CALLED[name]).items():
        text = (inspect.getdoc(part) or "").strip()
        assert text or part_name.endswith(".__init__"), f"{part_name} has no docstring"
        if inspect.isfunction(part):
            signature = inspect.signature(part)
            bare = [
                parameter.name for parameter in signature.parameters.values()
                if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
            ]  # fmt: skip
            assert bare == [], f"{part_name} has parameters without types"
            assert signature.return_annotation is not signature.empty, f"{part_name} returns what?"
