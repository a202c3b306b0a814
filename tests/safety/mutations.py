"""Saved states with something changed: columns, fields, tickets, spec; the checksum made right."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from fullswap.forecasting.state import pack, pack_row, unpack_row
from fullswap.kernels.columns import DELAY, HEAD, HINT, LEARNT, NEXT_ID, OVERLAP
from fullswap.kernels.experts import TOTALS
from fullswap.online.kinds import kind_of
from fullswap.online.spec import Spec

NUMBERS = [
    np.nan, np.inf, -np.inf, -1.0, -50.0, 1e9, 1e300, -1e300, 0.5, 0.0, 1.0, 2.0, 1e-300, 5e-324,
    -1e-300, 1e-9, 2.0**52, 2.0**53, 2.0**63, 1e18, 3.0, 1.7e308, 1e-5, 0.9999999999,
]  # fmt: skip
JUNK: list[Any] = [
    None, True, False, "", "text", "1", [], {}, [[]], [None], {"a": 1}, -1, 0, 1, 10**9, 10**30,
    2**63, 0.5, -0.5, 1e300, 1e-300, 5e-324, [1, 2, 3], ["even", 4], 2**53, 2, 3, 5, 64, 999_999,
]  # fmt: skip
DEEP = json.loads("[" * 400 + "]" * 400)
EVENTS: list[Any] = [
    *JUNK, DEEP, "game", "game", 7, {"tuple": ["cup", 3]}, {"tuple": []}, {"tuple": [None]},
    {"bytes": "AAE="}, {"bytes": "?"}, {"bytes": ""},
    json.loads('{"tuple": [' * 90 + "1" + "]}" * 90),
]  # fmt: skip
SHAPES = ["even", "tapered", "classes"]

Body = dict[str, Any]


def read(text: str) -> tuple[str, Body]:
    """Class and content of a state; the row as numbers."""
    body = json.loads(text)
    for name in ("format", "version", "checksum"):
        body.pop(name)
    kind = body.pop("kind")
    body["row"] = unpack_row(body["row"])
    return kind, body


def write(kind: str, body: Body) -> str:
    """The text of a content, with the checksum that fits it."""
    row = body.get("row")
    content = dict(body)
    if isinstance(row, np.ndarray):
        content["row"] = pack_row(row)
    text = pack(kind, _plain(content))
    return text


def _plain(value: Any) -> Any:
    """JSON has no NaN: a tampered number that is none becomes one that no float holds."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return value if value is DEEP else [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if value != value else 10**400 * int(np.sign(value))
    return value


# --- what can be changed ----------------------------------------------------------------------


def column(body: Body, rng: np.random.Generator) -> None:
    """One column: of the head more often than of the many others."""
    row = body["row"]
    last = len(row) if rng.random() < 0.5 else HEAD
    row[rng.integers(last)] = _number(row, rng)


def two_columns(body: Body, rng: np.random.Generator) -> None:
    """Mass moved from one column to another: sums stay as they were."""
    row = body["row"]
    i, j = rng.integers(HEAD if rng.random() < 0.8 else 0, len(row), 2)
    moved = rng.choice([row[i], 1.0, 1e-300, 0.5 * row[i], -1.0, 1e-12, 1e6])
    row[i] -= moved
    row[j] += moved


def neighbouring_columns(body: Body, rng: np.random.Generator) -> None:
    """The columns of a point, or of something like one, all at once."""
    row = body["row"]
    begin = int(rng.integers(HEAD, len(row)))
    for k in range(begin, min(begin + int(rng.integers(2, 7)), len(row))):
        if rng.random() < 0.8:
            row[k] = _number(row, rng)


def scaled(body: Body, rng: np.random.Generator) -> None:
    """A stretch of columns, or all of them, times a number."""
    row = body["row"]
    begin, end = sorted(rng.integers(0, len(row) + 1, 2))
    if rng.random() < 0.3:
        begin, end = HEAD, len(row)
    with np.errstate(over="ignore"):
        row[begin:end] *= rng.choice([0.0, -1.0, 2.0, 1e-300, 1e150, 1e-9, 1 + 1e-7])


def all_share_in_one(body: Body, rng: np.random.Generator) -> None:
    """A stretch of columns emptied into one of them, as when a single expert has all weight."""
    row = body["row"]
    begin = HEAD + int(rng.integers(0, 4))
    end = min(begin + int(rng.choice([3, 4, 8, 12, 16])), len(row))
    total = row[begin:end].sum()
    row[begin:end] = 0.0
    row[rng.integers(begin, end)] = total


def length(body: Body, rng: np.random.Generator) -> None:
    """Columns missing, or more of them."""
    row = body["row"]
    choices = [0, 1, HEAD - 1, HEAD, len(row) - 1, len(row) // 2, len(row) + 1, 2 * len(row)]
    body["row"] = np.resize(row, int(rng.choice(choices)))


def permuted(body: Body, rng: np.random.Generator) -> None:
    """Numbers that are right, elsewhere."""
    row = body["row"]
    i, j = rng.integers(0, len(row), 2)
    row[i], row[j] = row[j], row[i]


def spec_field(body: Body, rng: np.random.Generator) -> None:
    """One field of the spec."""
    spec = body["spec"]
    name = str(rng.choice(list(spec)))
    choices = [*JUNK, *FIELDS.get(name, [])]
    spec[name] = copy.deepcopy(choices[rng.integers(len(choices))])


FIELDS: dict[str, list[Any]] = {
    "kind": ["line", "experts", "groups", "classwise"],
    "groups": [0, 1, 2, 3, 4, 16, 17, 32, 1000, 1001, True],
    "open_groups": [True, False, 1],
    "feedback": ["realised", "distribution"],
    "steps": [10, 20, 100, 1000, 999_983],
    "horizon": [1, 100, 10**6, 2**53, 2**53 + 1],
    "max_weight": [1e308, 1e200, 1e100, 1e50, 1e-50, 1e-320, 4.0, True],
    "models": [1, 2, 3, 4, 1000, 1001],
    "classes": [2, 3, 4, 5, 6, 1000],
    "levels": [
        [["even", 999_999]], [["even", 1], ["even", 999_999]], [["classes", 60]], [["tapered", 2]],
        [["even", 2], ["even", 3]], [["even", 10, [0, 5, 10]]], [["even", 4], ["even", 2]],
        [["classes", 65]], [["even", 0]], [["even", 1048577]], [["tapered", 1]],
    ],
    "starts": [
        [0.0], [0.0, 1.0], [0], [1.0], [0.0, -1.0], [0.0, 0.0], [0.0, 1e308], [0.0] * 65,
        [0.0, 1e-300, 2e-300], [0.0, None],
    ],
}  # fmt: skip


def lattice(body: Body, rng: np.random.Generator) -> None:
    """A grid of other size or shape; or a grid more."""
    levels, starts = body["spec"]["levels"], body["spec"]["starts"]
    at = int(rng.integers(len(levels)))
    own = levels[at]
    how = rng.integers(5)
    if how == 0:
        own[1] = int(rng.choice([0, -1, 1, 2, own[1] + 1, 2 * own[1], 10**6, 2**20, 2**40]))
    elif how == 1:
        own[0] = str(rng.choice(SHAPES))
    elif how == 2:
        levels.insert(at + 1, [own[0], int(own[1] * rng.choice([1, 2, 3, 4, 1000]))])
        starts.insert(at + 1, float(starts[at] + rng.choice([0.0, 1e-9, 0.5, 10.0, 400.0])))
    elif how == 3 and len(levels) > 1:
        del levels[at], starts[at]
    else:
        starts[at] = float(rng.choice([-1.0, 0.0, 0.5, 1e6, 1e300, starts[-1]]))


def ticket(body: Body, rng: np.random.Generator) -> None:
    """One number of one ticket; without tickets, a made-up one."""
    pending = body["pending"]
    if not pending:
        pending.append([0, 0, 0, [0.0, 1.0, 0.5, 0.5, 0.5]])
    own = pending[rng.integers(len(pending))]
    how = rng.integers(9)
    if how == 8:
        own[4:] = [copy.deepcopy(EVENTS[rng.integers(len(EVENTS))])]
    elif how < 3:
        own[how] = JUNK[rng.integers(len(JUNK))]
    elif how == 3:
        own[int(rng.integers(3))] = int(rng.integers(-2, 300))
    elif how == 4:
        numbers = own[3]
        own[3] = numbers[: rng.integers(len(numbers) + 1)] + [0.5] * int(rng.integers(0, 4))
    else:
        numbers = own[3]
        for _ in range(rng.integers(1, 3)):
            # indices and shares stand first
            reach = len(numbers) if rng.random() < 0.6 else min(6, len(numbers))
            numbers[rng.integers(reach)] = _ticket_number(numbers, rng)


def tickets(body: Body, rng: np.random.Generator) -> None:
    """More, fewer, or other tickets."""
    pending = body["pending"]
    how = rng.integers(4)
    if how == 0 and pending:
        pending.append(copy.deepcopy(pending[0]))
    elif how == 1 and pending:
        extra = copy.deepcopy(pending[0])
        extra[0] = int(rng.integers(0, 400))
        pending.append(extra)
    elif how == 2 and pending:
        pending[rng.integers(len(pending))] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])
    else:
        body["pending"] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])


def field(body: Body, rng: np.random.Generator) -> None:
    """A field of another type, missing, or one too many."""
    name = str(rng.choice([*body, "extra"]))
    how = rng.integers(4)
    if how == 0:
        body.pop(name, None)
    elif how == 1:
        body[name] = DEEP
    else:
        body[name] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])


def draws(body: Body, rng: np.random.Generator) -> None:
    """Seed or stream."""
    name = str(rng.choice(["seed", "stream"]))
    body[name] = str(rng.choice(["0", "-1", str(2**128), str(2**128 - 1), "1e3", "٣", "²", " 1"]))


def counts(body: Body, rng: np.random.Generator) -> None:
    """Whole numbers of the head, near what they were."""
    row = body["row"]
    for _ in range(rng.integers(1, 4)):
        row[rng.integers(HEAD)] += rng.choice([-1.0, 1.0, 2.0, 10.0, -10.0, 0.5])


# --- changes that hide better -----------------------------------------------------------------


def points_swapped(body: Body, rng: np.random.Generator) -> None:
    """Two grid points with all that they learnt: every sum stays as it was."""
    kind = kind_of(Spec.from_dict(body["spec"]))
    columns = kind.point_columns(body["row"])
    i, j = rng.integers(len(columns), size=2)
    columns[[i, j]] = columns[[j, i]]


def extremes(body: Body, rng: np.random.Generator) -> None:
    """Odds, recalibrations or errors of bins as far as they may go, in many columns at once."""
    row = body["row"]
    kind = kind_of(Spec.from_dict(body["spec"]))
    shared = row[HEAD : kind.base]
    with_points = rng.random() < 0.5 or not len(shared)
    part = kind.point_columns(row)[:, rng.integers(kind.columns)] if with_points else shared
    chosen = rng.random(len(part)) < rng.choice([0.02, 0.3, 1.0])
    values = [1e6, -1e6, 9e5, 1.0, -1.0, 0.2, 10.0, -10.0, 0.0]
    part[chosen] = np.where(
        rng.random(int(chosen.sum())) < 0.5, rng.choice(values), part[chosen] * rng.uniform(-1, 1)
    )


def recalibration(body: Body, rng: np.random.Generator) -> None:
    """A parameter of a recalibration as far as it may go."""
    kind = kind_of(Spec.from_dict(body["spec"]))
    if not kind.spec.models:
        return head(body, rng)
    begin = HEAD + TOTALS + 3 * kind.experts
    # slope and bias stand first, then their precision
    width = 5 if kind.spec.classes == 2 else (kind.spec.classes + 1) * (kind.spec.classes + 2)
    step = 1 if kind.spec.classes == 2 else kind.spec.classes + 2
    place = begin + width * int(rng.integers(2 * kind.inputs)) + step * int(rng.integers(2))
    body["row"][place] = rng.choice([1e6, -1e6, 40.0, -40.0, 700.0, -700.0, 1e-300])
    return None


def head(body: Body, rng: np.random.Generator) -> None:
    """Counts that could have been others."""
    row = body["row"]
    row[HINT] = rng.integers(-1, 30)
    row[OVERLAP] = rng.integers(0, 6)
    row[DELAY] = rng.integers(0, row[OVERLAP] + 1)
    row[LEARNT] = rng.integers(-1, max(row[NEXT_ID], 1))
    row[NEXT_ID] += rng.choice([0.0, 1.0, 1000.0, 2.0**51])


def another_play(body: Body, rng: np.random.Generator) -> None:
    """A ticket with other numbers of the kind that it has."""
    if not body["pending"]:
        return head(body, rng)
    own = body["pending"][rng.integers(len(body["pending"]))]
    numbers = own[3]
    for k, value in enumerate(numbers):
        if value is None or rng.random() < 0.7:
            continue
        if float(value).is_integer():
            numbers[k] = float(value + rng.integers(-1, 2))
        elif 0 < value < 1:
            numbers[k] = float(rng.choice([rng.random(), 0.0, 1.0, 1e-300, value]))
        else:
            numbers[k] = float(rng.uniform(-10, 10))
    own[2] = int(rng.integers(0, 3))
    return None


MUTATIONS: list[tuple[Callable[[Body, np.random.Generator], None], int]] = [
    (column, 5), (two_columns, 3), (neighbouring_columns, 4), (scaled, 2), (all_share_in_one, 1),
    (length, 1), (permuted, 2), (spec_field, 4), (lattice, 4), (ticket, 8), (tickets, 1),
    (field, 1), (draws, 1), (counts, 3), (points_swapped, 3), (extremes, 4), (recalibration, 3),
    (head, 4), (another_play, 6),
]  # fmt: skip
"""What can be changed, and how often it is."""


def mutated(text: str, rng: np.random.Generator) -> tuple[str, str]:
    """A state with one or two things changed, and which."""
    kind, body = read(text)
    chances = np.array([often for _, often in MUTATIONS], float)
    names = []
    for _ in range(1 if rng.random() < 0.8 else 2):
        mutate = MUTATIONS[rng.choice(len(MUTATIONS), p=chances / chances.sum())][0]
        try:
            with np.errstate(all="ignore"):
                mutate(body, rng)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
            if not names:
                raise
            continue  # the first change left nothing for the second to change
        names.append(mutate.__name__)
    return write(kind, body), " + ".join(names)


def _number(row: np.ndarray, rng: np.random.Generator) -> float:
    if rng.random() < 0.25:
        return float(row[rng.integers(len(row))])
    return float(NUMBERS[rng.integers(len(NUMBERS))])


def _ticket_number(numbers: list[Any], rng: np.random.Generator) -> Any:
    if rng.random() < 0.15:
        return JUNK[rng.integers(len(JUNK))]
    if rng.random() < 0.25:
        return numbers[rng.integers(len(numbers))]
    return float(NUMBERS[rng.integers(len(NUMBERS))])
