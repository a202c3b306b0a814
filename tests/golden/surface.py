"""Print all that users can name, a line each, so that two trees can be compared with ``diff``.

    python tests/golden/surface.py [FOLDER] > names.txt

FOLDER is another worktree, whose ``src`` is read in place of the one that is installed. Python:
every public name, its arguments, its attributes and fields. Command: every option. Service: every
path with its parameters, and every field of every body and answer.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

BESIDE = ("certificates", "client", "inputs", "integrations.river", "integrations.sklearn",
          "integrations.spark", "replay")  # fmt: skip
"""Public, though not among the names of the package itself; what a tree lacks is left out."""


def names_of(module: ModuleType) -> list[str]:
    """What a module declares; else what is public and its own."""
    own = [name for name, value in vars(module).items()
           if getattr(value, "__module__", None) == module.__name__ and name[0] != "_"]  # fmt: skip
    return list(getattr(module, "__all__", own))


def python(module: ModuleType, seen: set[int]) -> Iterator[str]:
    """Names of a module, each object once, with what belongs to it."""
    for name in names_of(module):
        value, path = getattr(module, name), f"{module.__name__}.{name}"
        yield path
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, ModuleType):
            yield from python(value, seen)
        elif isinstance(value, type):
            yield from members(path, value)
        elif callable(value):
            yield from arguments(path, value)
        elif isinstance(value, (dict, tuple)):
            yield from (f"{path}: {key}" for key in value if isinstance(key, str))


def members(path: str, kind: type) -> Iterator[str]:
    """Arguments of a class, and its methods, attributes and fields."""
    yield from arguments(path, kind)
    declared = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    fields = {field.name for field in declared} | set(getattr(kind, "__annotations__", {}))
    fields |= set(getattr(kind, "__struct_fields__", ()))
    fields |= {key for key in vars(kind).get("__slots__", ()) if isinstance(key, str)}
    yield from (f"{path}.{key}" for key in sorted(fields) if key[0] != "_")
    for key in dir(kind):
        part = inspect.getattr_static(kind, key)
        if key[0] == "_" or key in fields:
            continue
        inner = part.__func__ if isinstance(part, (staticmethod, classmethod)) else part
        home = getattr(getattr(inner, "fget", None) or inner, "__module__", None) or ""
        if home.startswith("fullswap"):
            yield f"{path}.{key}"
            if inspect.isfunction(inner):
                yield from arguments(f"{path}.{key}", inner)


def arguments(path: str, function: Any) -> Iterator[str]:
    """One line an argument."""
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return
    yield from (f"{path}({name}=)" for name in parameters if name not in ("self", "cls"))


def command(path: str, made: Any) -> Iterator[str]:
    """Options of a command and of those below it."""
    for parameter in made.params:
        for option in [*parameter.opts, *parameter.secondary_opts]:
            yield f"{path} {option}"
    for name, inner in getattr(made, "commands", {}).items():
        yield from command(f"{path} {name}", inner)


def service(document: dict[str, Any]) -> Iterator[str]:
    """Paths, parameters, statuses and fields of an OpenAPI document."""
    for route, operations in document["paths"].items():
        for method, operation in operations.items():
            call = f"{method.upper()} {route}"
            yield call
            yield from (f"{call} ?{one['name']}" for one in operation.get("parameters", ()))
            yield from (f"{call} -> {status}" for status in operation["responses"])
    for name, schema in document["components"]["schemas"].items():
        for key, value in schema.get("properties", {}).items():
            yield f"{name}.{key}"
            yield from (f"{name}.{key} = {one}" for one in value.get("enum", ()))


def openapi() -> dict[str, Any]:
    """The document of a service that is not started."""
    import json
    from unittest.mock import MagicMock

    from fullswap.service import app

    return json.loads(app.make_app(MagicMock(), MagicMock()).inner.state.document)


def everything() -> Iterator[str]:
    """All lines, in order."""
    package, seen = importlib.import_module("fullswap"), set()
    yield from python(package, seen)
    for name in BESIDE:
        if importlib.util.find_spec(f"fullswap.{name}") is not None:
            yield from python(importlib.import_module(f"fullswap.{name}"), seen)
    from fullswap.cli.app import app

    yield from command("$ fullswap", app())
    yield from service(openapi())


if __name__ == "__main__":
    if sys.argv[1:]:
        environment = os.environ | {"PYTHONPATH": os.path.join(sys.argv[1], "src")}
        raise SystemExit(subprocess.run([sys.executable, __file__], env=environment).returncode)
    print("\n".join(sorted(set(everything()))))
