"""Games as named arrays, in JSON or in numpy's NPZ.

    {"payoffs": [A, B, …]}                one array a player, all of shape (n_1, …, n_N)
    {"A": …, "B": …}                      the same for two players
    {"V": …, "W": …, "V2": …, "W2": …}    u_1(i, j) = ⟨V[i], W[j]⟩, u_2(i, j) = ⟨V2[i], W2[j]⟩

and, all optional, "name", "players" (a name each) and "actions" (a list of names each). In NPZ,
whose arrays are rectangular, the names of the actions may be "actions_1", "actions_2", … instead.
"""

from __future__ import annotations

import io
import json
import reprlib
import zipfile
from collections import Counter
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.games.game import StructuredGame, from_matrices, from_tensor

FORMS = (("payoffs",), ("A", "B"), ("V", "W", "V2", "W2"))
"""Fields that make a game."""
NAMES = ("name", "players", "actions")
"""Fields that name it and its parts."""
_MOST_PLAYERS = 32
_MOST_BYTES = 2_000_000_000
"""Of arrays that an NPZ unpacks to, and of the numbers of its game."""
_HELD = 3 * 8
"""Bytes of a number on its way into a game: as a float, in one array for all players, and kept."""
_MOST_DIGITS = 300
"""Whole numbers with more of them are read as floats."""


def from_json(text: str, file: str, name: str | None = None) -> StructuredGame:
    """The game that a JSON object describes; what is wrong is a ValueError that names the field."""
    try:
        fields = json.loads(text, object_pairs_hook=_once, parse_int=_whole)
    except json.JSONDecodeError as problem:
        at = f"line {problem.lineno}, column {problem.colno}"
        raise ValueError(f"{file}, {at}: expected JSON: {problem.msg}") from None
    except RecursionError:
        raise ValueError(f"{file}: expected JSON of arrays, got lists too deep to read") from None
    except ValueError as problem:
        raise ValueError(f"{file}: {problem}") from None
    return _game(fields, file, name)


def _whole(text: str) -> float:
    """A whole number; one that no float can hold is infinite, and refused with its field."""
    return int(text) if len(text) <= _MOST_DIGITS else float(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object, none of them twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice, times = Counter(field for field, _ in pairs).most_common(1)[0]
        raise ValueError(f"field {_short(twice)} must be there once, got it {times} times")
    return fields


def _short(field: str) -> str:
    return reprlib.repr(field)


def from_npz(data: bytes, file: str, name: str | None = None) -> StructuredGame:
    """The same for the arrays of an NPZ file; one that needs pickle is refused."""
    fields: dict[str, Any] = {}
    field = ""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            unpacked = sum(part.file_size for part in packed.infolist())
            if unpacked > _MOST_BYTES:
                raise ValueError(f"at most {_MOST_BYTES:,} bytes, got {unpacked:,}")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            numbers = 0
            for field in arrays.files:
                fields[field] = arrays[field]
                if not isinstance(fields[field], np.ndarray):
                    raise ValueError("got other content")
                numbers += fields[field].size if fields[field].dtype.kind in "biuf" else 0
                if numbers * _HELD > _MOST_BYTES:
                    raise ValueError(f"at most {_MOST_BYTES // _HELD:,} numbers, got {numbers:,}")
    except Exception as problem:  # whatever damaged bytes do to decoders: all is one kind of news
        where = f", field {field!r}" if field else ""
        raise ValueError(f"{file}{where}: expected arrays of numpy's NPZ: {problem}") from None
    for field in NAMES:
        if field in fields:
            fields[field] = fields[field].tolist()
    split = [field for field in fields if field.startswith("actions_")]
    if split and "actions" not in fields:
        wanted = [f"actions_{k}" for k in range(1, len(split) + 1)]
        if sorted(split) != sorted(wanted):
            raise ValueError(f"{file}: expected fields {', '.join(wanted)}, got {', '.join(split)}")
        fields["actions"] = [fields.pop(field).tolist() for field in wanted]
    return _game(fields, file, name)


def _game(fields: Any, file: str, name: str | None) -> StructuredGame:
    if not isinstance(fields, dict):
        raise ValueError(f"{file}: expected an object with fields such as payoffs, got a list")
    form = _form(fields, file)
    try:
        arrays = _arrays(fields, form)
        sizes = (len(arrays[0]), len(arrays[1])) if len(form) == 4 else arrays[0].shape
        title = name or _title(fields.get("name")) or Path(file).stem
        players = _names("players", fields.get("players"), len(sizes))
        labels = _action_names(fields.get("actions"), sizes)
        if len(form) == 4:
            v, w, v2, w2 = arrays
            return StructuredGame.from_embeddings(v, w, v2, w2, title, labels, players)
        if len(sizes) == 2:
            return from_matrices(arrays[0], arrays[1], None, title, labels, players)
        return from_tensor(np.stack(arrays), title, labels, players)
    except ValueError as problem:
        raise ValueError(f"{file}: {problem}") from None


def _form(fields: dict[str, Any], file: str) -> tuple[str, ...]:
    """Which of the forms it is; nothing may be missing, left over or said twice."""
    known = [field for form in FORMS for field in form] + [*NAMES]
    for field in fields:
        if field not in known:
            near = get_close_matches(field[:40], known, 1)
            hint = f", did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
            raise ValueError(f"{file}: unknown field {_short(field)}{hint}")
    given = [form for form in FORMS if any(field in fields for field in form)]
    if len(given) != 1:
        forms = "payoffs, or A and B, or V, W, V2 and W2"
        raise ValueError(f"{file}: expected {forms}, got {', '.join(fields) or 'no field'}")
    missing = [field for field in given[0] if field not in fields]
    if missing:
        beside = " and ".join(field for field in given[0] if field in fields)
        raise ValueError(f"{file}: {' and '.join(missing)} must be given beside {beside}, got none")
    return given[0]


def _arrays(fields: dict[str, Any], form: tuple[str, ...]) -> list[Any]:
    if form != ("payoffs",):
        return [checks.matrix(field, fields[field]) for field in form]
    given = fields["payoffs"]
    listed = isinstance(given, list) or (isinstance(given, np.ndarray) and given.ndim > 0)
    if not listed or not 2 <= len(given) <= _MOST_PLAYERS:
        count = len(given) if listed else given
        checks.refuse("payoffs", f"be arrays of 2 to {_MOST_PLAYERS} players", count)
    arrays = [checks.floats(f"payoffs[{k}]", array) for k, array in enumerate(given)]
    for k, array in enumerate(arrays):
        if array.ndim != len(arrays) or array.size == 0:
            wanted = f"(n_1, …, n_{len(arrays)}), one axis a player"
            checks.refuse_shape(f"payoffs[{k}]", wanted, array)
        if array.shape != arrays[0].shape:
            checks.refuse_shape(f"payoffs[{k}]", f"{arrays[0].shape} as payoffs[0]", array)
    return arrays


def _title(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        checks.refuse("name", "be a text", value)
    return value or ""


def _action_names(value: Any, sizes: tuple[int, ...]) -> list[list[str] | None] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != len(sizes):
        checks.refuse("actions", f"be a list of names for each of {len(sizes)} players", value)
    return [_names(f"actions[{k}]", row, sizes[k]) for k, row in enumerate(value)]


def _names(field: str, value: Any, count: int) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        checks.refuse(field, f"be a list of {count} names", value)
    if len(value) != count:
        raise ValueError(f"{field} must be {count} names, got {len(value)}")
    return value
