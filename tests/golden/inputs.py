"""Fixed inputs of the numbers that are recorded, made without the package.

Bits come from Philox, whose stream never changes; what goes through a logarithm or an exponential
is rounded, so that processors agree on it. Names begin with what they are for.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

# --- shared ---------------------------------------------------------------------------------------


def uniforms(seed, *shape):
    """Numbers in [0, 1), the same on every machine."""
    raw = np.random.Philox(key=seed).random_raw(int(np.prod(shape)))
    return ((raw >> np.uint64(11)) * 2.0**-53).reshape(shape)


def normals(seed, *shape):
    """Sums of twelve uniforms, which are near enough to normal."""
    return np.round(uniforms(seed, 12, *shape).sum(axis=0) - 6.0, 6)


def shares(logits):
    """Probabilities of yes."""
    return np.round(1.0 / (1.0 + np.exp(-logits)), 6)


def soft_shares(logits):
    """Rows of probabilities that sum to 1, as exactly as multiples of 2⁻²⁰ do."""
    raw = np.exp(logits - logits.max(axis=1, keepdims=True))
    table = np.maximum(np.round(raw / raw.sum(axis=1, keepdims=True) * 2.0**20), 1.0)
    best = (np.arange(len(table)), table.argmax(axis=1))
    table[best] += 2.0**20 - table.sum(axis=1)
    return table * 2.0**-20


def drawn_classes(seed, table):
    """A class from every row."""
    return (table.cumsum(axis=1) > uniforms(seed, len(table), 1)).argmax(axis=1)


# --- forecasting ----------------------------------------------------------------------------------


def line_outcomes(kind, n, seed=1):
    """Yes or no: "drifting", "runs", "softly" (shares), "mostly" (rare)."""
    t, u = np.arange(n), uniforms(seed, n)
    if kind == "runs":
        return ((t // 37) % 2).astype(float)
    if kind == "softly":
        return np.round(u, 6)
    if kind == "mostly":
        return (u < 0.93).astype(float)
    return (u < np.round(0.5 + 0.4 * np.sin(6 * np.pi * t / n), 6)).astype(float)


def line_known(n, seed=2):
    """After how many rows each outcome is known: now, later, or after the last row."""
    return np.arange(1, n + 1) + (uniforms(seed, n) ** 3 * 90).astype(int)


def line_weights(n, most, seed=3):
    """Weights up to the largest, some of them 0."""
    u = uniforms(seed, n)
    return np.where(u < 0.1, 0.0, np.round(most * u, 6))


def line_events(n, seed=4):
    """Names of events and their outcomes: three rows each, two events at a time; some are alone."""
    t = np.arange(n)
    number = (t // 6) * 2 + t % 2
    said = (uniforms(seed, number.max() + 1) < 0.6).astype(float)
    names = ["" if k % 5 == 4 else f"e{k}" for k in number.tolist()]
    return names, said[number]


def line_keys(n, streams, seed=5):
    """Whose event each row is; some streams have few."""
    return [f"k{int(k)}" for k in uniforms(seed, n) ** 2 * streams]


def claims_of(n, models=1, seed=11, slope=1.6):
    """What over-confident models say of events, some of them silent; and what happened."""
    truth = 1.2 * normals(seed, n)
    y = (uniforms(seed + 1, n) < shares(truth)).astype(float)
    said = shares(slope * truth[:, None] + 0.5 * normals(seed + 2, n, models))
    if models > 1:
        said[uniforms(seed + 3, n, models) < 0.2] = np.nan
        said[:, 0] = shares(slope * truth)
    return (said[:, 0] if models == 1 else said), y


def claims_of_classes(n, classes, models=1, seed=21):
    """The same of several classes: (n, K) or (n, models, K), and the classes that came."""
    logits = normals(seed, n, classes)
    y = drawn_classes(seed + 1, soft_shares(0.7 * logits))
    more = [
        soft_shares(logits + 0.6 * k * normals(seed + 2 + k, n, classes)) for k in range(models)
    ]
    return (more[0] if models == 1 else np.stack(more, axis=1)), y


GROUP_NAMES = ("north", "night", "new")


def group_table(n, seed=31):
    """0 and 1 for each of ``GROUP_NAMES``."""
    return (uniforms(seed, n, 3) < np.array([0.5, 0.3, 0.1])).astype(float)


def group_lists(n, seed=31):
    """The same as lists of names."""
    table = group_table(n, seed)
    return [[GROUP_NAMES[k] for k in np.flatnonzero(row)] for row in table]


# --- logs to check --------------------------------------------------------------------------------


def made_log(n, seed, shift=0.0, slope=1.0, center=0.0, spread=1.5):
    """Outcomes and forecasts; log-odds of the truth: shift + slope·(those of the forecast)."""
    logits = center + spread * normals(seed, n)
    y = (uniforms(seed + 1, n) < shares(shift + slope * logits)).astype(float)
    return y, shares(logits)


def made_games(events, rows, seed):
    """Rows of events with one outcome each: later rows know more."""
    truth = (uniforms(seed, events) < 0.5).astype(float)
    steps = normals(seed + 1, events, rows) + (2 * truth[:, None] - 1) * 0.35
    p = shares(0.7 * steps.cumsum(axis=1))
    return np.repeat(truth, rows), p.ravel(), np.repeat(np.arange(events), rows)


def made_classes(n, k, seed, temperature=1.0):
    """Class numbers and probabilities; the truth is flatter or sharper by the temperature."""
    logits = normals(seed, n, k)
    return drawn_classes(seed + 1, soft_shares(temperature * logits)), soft_shares(logits)


def check_logs():
    """Made-up logs by name: outcomes, probabilities, and what else is said, by neutral words."""
    n, own = 1500, {}

    def log(name, y, p, **more):
        own[name] = (y, p, more)

    flaws = {
        "right": {}, "bold": {"slope": 0.6}, "timid": {"slope": 1.6}, "high": {"shift": -0.5},
        "low": {"shift": 0.4}, "upside-down": {"slope": -1.0}, "slight": {"shift": 0.12},
        "rare": {"center": -4.0, "spread": 0.7}, "common": {"center": 3.5, "shift": -0.5},
        "narrow": {"spread": 0.05}, "wide": {"spread": 6.0, "slope": 0.9},
    }  # fmt: skip
    for k, (name, flaw) in enumerate(flaws.items()):
        log(name, *made_log(n, 100 + 10 * k, **flaw))
    for size in (2, 3, 5, 40, 200):
        log(f"{size}-rows", *made_log(size, 300 + size, slope=0.5))
    log("many-rows", *made_log(30_000, 310, shift=0.06))
    y, p = made_log(n, 320, slope=0.7)
    tenths = np.round(p, 1)
    log("ties", y, tenths)
    log("ties-with-step", y, tenths, step=0.1)
    log("one-value", y, np.full(n, 0.5))
    log("two-values", y, np.where(p > 0.5, 0.8, 0.2))
    log("in-percent", y, 100 * p)
    log("both-columns", y, np.column_stack((1 - p, p)))
    log("truth-values", y.astype(bool), p)
    log("words", np.where(y > 0, "won", "lost"), p, yes="won")
    log("all-happened", np.ones(300), p[:300])
    ends = np.where(uniforms(330, n) < 0.1, np.where(y > 0, 1.0, 0.0), p)
    log("certain-and-right", y, ends)
    log("certain-and-wrong", np.where(np.arange(n) == 700, 1 - ends.round(), y), ends)
    log("near-the-ends", y, np.clip(np.where(y > 0, 1 - 1e-9, 1e-12) * (p > 0.2), 1e-300, 1.0))
    log("missing", np.where(uniforms(331, n) < 0.2, np.nan, y), p)
    weights = np.round(uniforms(332, n), 6)
    log("weights", y, p, weight=weights)
    log("some-weigh-nothing", y, p, weight=np.where(weights < 0.3, 0.0, 3 * weights))
    log("five-even-bins", y, p, bins=5, even=True)
    log("large-tolerance", y, p, tolerance=0.15)
    log("strict", y, p, level=0.001)
    log("whole-band", y, p, whole_band=True)
    log("another-seed", y, p, seed=5)
    log("delay", y, p, delay=5)
    day = np.argsort(uniforms(333, n), kind="stable")
    turn = np.where(day < n // 2, p, 1 - p)
    log("in-time", y, turn, time=np.datetime64("2020-01-01") + day)
    places = np.array(["coast", "hills", "city"])[(uniforms(334, n) * 3).astype(int)]
    worse = np.where(places == "city", np.clip(p + 0.15, 0, 1), p)
    log("by-one", y, worse, by={"place": places})
    log("by-two", y, worse, by={"place": places, "size": np.round(uniforms(335, n), 3)})
    log("in-groups", y, worse, groups=group_lists(n, 336))
    log("due", y, p, time=np.arange(n), due=np.arange(n) + (p * 100).astype(int), as_of=1200)
    gy, gp, game = made_games(300, 6, 340)
    log("events", gy, gp, event=game)
    log("together", y, p, together=np.arange(n) // 7)
    log("three-classes", *made_classes(n, 3, 350))
    log("three-bold-classes", *made_classes(n, 3, 360, 0.5), weight=weights)
    log("ten-classes", *made_classes(2000, 10, 370, 0.8))
    ky, kp = made_classes(n, 4, 380, 1.3)
    log("named-classes", np.array(["a", "b", "c", "d"])[ky], kp, names=["a", "b", "c", "d"],
        by={"place": places})  # fmt: skip
    rival = np.where(uniforms(341, n) < 0.1, np.nan, shares(0.8 * normals(342, n)))
    log("rivals", y, {"first": p, "second": np.clip(p, 0.2, 0.8), "third": rival})
    return own


def found_logs():
    """Logs inside installed packages by name; a package that is not there has none."""
    own = {}
    rows = _csv("river", "datasets/phishing.csv.gz")
    if rows:
        table = np.array(rows[1:], float)
        own["phishing"] = (table[:, -1], shares(2.0 * (table[:, :-1].mean(axis=1) - 0.45) * 4))
    rows = _csv("river", "datasets/banana.zip")
    if rows:
        body = [row[0].replace("1:", "").replace("2:", "").split() for row in rows if row]
        x = np.array(body, float)[:, [1, 2, 0]]
        score = 1.2 * x[:, 0] * x[:, 1] - 0.8 * x[:, 1] ** 2 + 0.3
        own["bananas"] = ((x[:, 2] > 0).astype(float), shares(score))
    rows = _csv("sklearn", "datasets/data/breast_cancer.csv")
    if rows:
        x = np.array(rows[1:], float)
        z = (x[:, 0] - 14.1) / 3.5 + (x[:, 7] - 0.05) / 0.04
        own["tumors"] = (x[:, -1], shares(0.6 - 1.1 * z))
    rows = _csv("sklearn", "datasets/data/digits.csv.gz")
    if rows:
        x = np.array(rows, float)
        pictures, digit = x[:, :-1] / 16, x[:, -1].astype(int)
        means = np.stack([pictures[:600][digit[:600] == k].mean(axis=0) for k in range(10)])
        far = ((pictures[600:, None] - means) ** 2).sum(axis=2)
        own["digits"] = (digit[600:], soft_shares(-np.round(far, 6)))
    rows = _csv("vega_datasets", "_data/seattle-weather.csv")
    if rows:
        x = np.array([row[1:5] for row in rows[1:]], float)
        rain = (x[:, 0] > 0).astype(float)
        said = shares(0.4 + 1.2 * rain - 0.14 * (x[:, 1] - x[:, 2]) + 0.1 * x[:, 3])
        own["rain"] = (rain[1:], said[:-1])
    return own


def _csv(package, path):
    """The rows of a file inside an installed package, which is not imported."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        return []
    content = (Path(found.submodule_search_locations[0]) / path).read_bytes()
    if path.endswith(".gz"):
        content = gzip.decompress(content)
    elif path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as held:
            content = held.read(held.namelist()[0])
    return list(csv.reader(io.StringIO(content.decode("utf-8"))))


# --- streams to watch -----------------------------------------------------------------------------


def watched(kind, n=1200, seed=401):
    """Outcomes and forecasts of a stream: "right", or going wrong half way, one way or another."""
    flaws = {
        "right": {}, "turns-high": {"shift": -1.0}, "turns-bold": {"slope": 0.3},
        "turns-timid": {"slope": 2.5}, "turns-low": {"shift": 0.8}, "rare": {},
    }  # fmt: skip
    center = -3.5 if kind == "rare" else 0.0
    y, p = made_log(n, seed, center=center)
    worse, _ = made_log(n, seed, center=center, **flaws[kind])
    return np.where(np.arange(n) < n // 2, y, worse), p


def watched_classes(k, n=1000, seed=441):
    """The same of classes: too sure from half way on."""
    y, p = made_classes(n, k, seed)
    worse, _ = made_classes(n, k, seed, 0.2)
    return np.where(np.arange(n) < n // 2, y, worse), p


# --- conversations --------------------------------------------------------------------------------

TALK_SETTINGS = {
    "anytime": {}, "planned": {"planned": 100}, "step": {"step": 0.05},
    "step-planned": {"step": 0.25, "planned": 1000}, "weights": {"most": 2.0},
    "watched": {"alarms": 40},
}  # fmt: skip
"""How streams are made, in neutral words."""


def talks():
    """Conversations by name: settings, and turns of asking ("ask", stream, id, event) and telling.

    A turn is a list of these, sent together; "again" sends the turn before once more, "restart"
    stops the service and starts it again, "drop" a stream.
    """
    own = {}
    for k, (name, settings) in enumerate(TALK_SETTINGS.items()):
        y = line_outcomes("runs" if name == "watched" else "drifting", 60, 500 + k).tolist()
        most = settings.get("most", 1.0)
        weights = line_weights(60, most, 520 + k).tolist() if most > 1 else [1.0] * 60
        own[f"{name}/prompt"] = settings, _prompt(y[:36], weights)
        own[f"{name}/batches"] = settings, _batches(y, weights)
        own[f"{name}/late"] = settings, _late(y[:48], weights)
        own[f"{name}/events"] = settings, _of_events(y, weights)
        own[f"{name}/restarts"] = settings, _restarts(y, weights)
    return own


def _ask(stream, name=None, event=None):
    return ("ask", stream, name, event)


def _tell(outcome, weight, name=None, event=None, stream=None):
    return ("tell", outcome, weight, name, event, stream)


def _prompt(y, weights):
    turns = []
    for t, outcome in enumerate(y):
        turns += [[_ask("a", f"id{t}")], [_tell(outcome, weights[t], f"id{t}")]]
    return turns


def _batches(y, weights):
    turns = []
    for t in range(0, len(y), 12):
        own = range(t, t + 12)
        turns.append([_ask(f"s{i % 4}", f"id{i}") for i in own])
        turns.append([_tell(y[i], weights[i], f"id{i}") for i in own])
        turns += ["again"] if t == 24 else []
    return turns


def _late(y, weights):
    turns, known = [], line_known(len(y), 540)
    for t in range(len(y) + 1):
        told = [i for i in range(t) if known[i] == t]
        turns += [[_tell(y[i], weights[i], f"id{i}") for i in told]] if told else []
        turns += [[_ask(f"s{t % 2}", f"id{t}")]] if t < len(y) else []
    left = [i for i in range(len(y)) if known[i] > len(y)]
    return [*turns, [_tell(None, 1.0, f"id{i}") for i in left[::2]]]


def _of_events(y, weights):
    turns = []
    for t in range(0, len(y), 6):
        turns.append([_ask("a", f"id{t + i}", f"e{t + i % 2}") for i in range(4)])
        turns.append([_ask("b", f"id{t + 4}", f"e{t}")])
        turns.append([_tell(y[t], weights[t], event=f"e{t}")])
        turns.append([_tell(y[t + 1], weights[t + 1], event=f"e{t + 1}", stream="a")])
    return turns


def _restarts(y, weights):
    turns = []
    for t in range(0, len(y), 10):
        turns.append([_ask("a", f"id{i}") for i in range(t, t + 10)])
        turns += ["restart"] if t in (20, 40) else []
        turns.append([_tell(y[i], weights[i], f"id{i}") for i in range(t, t + 9)])
        turns += ["again"] if t == 20 else []
    return turns


# --- learners ------------------------------------------------------------------------------------

LEARNER_ROUNDS = 120
LEARNER_SETS = {
    "line": ("interval", -1.0, 2.0),
    "box2": ("box", [0.0, -1.0], [1.0, 1.0]),
    "box3": ("box", [0.0, -1.0, 2.0], [1.0, 0.5, 2.7]),
    "simplex": ("simplex", 2, 1.0),
    "ball": ("ball", [1.0, 2.0], 1.5),
    "polytope": ("polytope", [[0.0, 0.0], [2.0, 0.3], [2.4, 1.5], [0.9, 2.2], [-0.3, 1.1]]),
    "simplex3": ("simplex", 3, 1.3),
    "ball3": ("ball", [0.0, 10.0, 3.0], 0.8),
}
"""A kind and its arguments."""
LEARNER_ACTIONS = np.array([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0])
"""With gaps that are powers of 2: learners begin at kinks, and sums there must have no rounding."""
LEARNER_TENTS = np.array([-0.8, 0.1, 0.35, 1.2, 1.9])
LEARNER_WAVES = np.array([3.0, 5.0, 7.0])


def learner_box(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Centre of a set, and an orthonormal basis (A, d) of its directions."""
    kind, *given = LEARNER_SETS[name]
    if kind == "interval":
        return np.array([sum(given) / 2]), np.eye(1)
    if kind == "simplex":
        # by a formula: singular vectors of equal values depend on the processor
        size, scale = given[0] + 1, given[1]
        steps = np.triu(np.ones((size, size))) - np.diag(np.arange(1.0, size), -1)
        return np.full(size, scale / size), (steps / np.linalg.norm(steps, axis=0))[:, :-1]
    if kind == "box":
        low, high = map(np.array, given)
        return (low + high) / 2, np.eye(len(low))
    if kind == "ball":
        return np.array(given[0]), np.eye(len(given[0]))
    return np.mean(given[0], axis=0), np.eye(len(given[0][0]))


def learner_inside(name: str, rounds: int = LEARNER_ROUNDS, seed: int = 1) -> np.ndarray:
    """Points (T, A) of a set that drift through it."""
    kind, *given = LEARNER_SETS[name]
    rng, (center, basis) = np.random.default_rng(seed), learner_box(name)
    dim, t = basis.shape[1], np.arange(rounds)
    wave = np.cos(t[:, None] / 17 + 1.3 * np.arange(dim))
    if kind in ("interval", "box"):
        low, high = (np.atleast_1d(side) for side in given)
        return low + (high - low) * np.clip(
            0.5 + 0.3 * wave + 0.4 * rng.uniform(-1, 1, wave.shape), 0, 1
        )
    if kind == "ball":
        moved = 0.5 * wave / np.sqrt(dim) + rng.uniform(-0.4, 0.4, wave.shape) / np.sqrt(dim)
        return center + given[1] * moved
    corners = given[1] * np.eye(dim + 1) if kind == "simplex" else np.array(given[0])
    shares = rng.dirichlet(np.full(len(corners), 0.3), rounds)
    shares = 0.6 * shares + 0.4 * np.roll(np.eye(len(corners)), 1, axis=1)[t // 30 % len(corners)]
    return shares @ corners


def learner_rows(name: str, kind: str, rounds: int = LEARNER_ROUNDS, seed: int = 2) -> np.ndarray:
    """Coefficients [a, b, c] of a·‖x‖² + ⟨b, x⟩ + c, shape (T, A + 2).

    "squared": distances to points of the set, "64ths": to multiples of 1/64. The others have slopes
    of at most 1 on sets of diameter up to 4: "linear", "convex" (a ≥ 0), "concave" (a ≤ 0), "any".
    """
    rng, (center, basis) = np.random.default_rng(seed), learner_box(name)
    if kind in ("squared", "64ths"):
        z = learner_inside(name, rounds, seed)
        z = np.round(64 * z) / 64 if kind == "64ths" else z
        return np.column_stack((np.ones(rounds), -2 * z, np.square(z).sum(axis=1)))
    t, dim = np.arange(rounds), basis.shape[1]
    slopes = 0.35 * np.sin(t[:, None] / 23 + np.arange(dim)) + rng.uniform(
        -0.35, 0.35, (rounds, dim)
    )
    slopes = slopes / np.sqrt(dim) @ basis.T
    low, high = {"linear": (0, 0), "convex": (0, 1), "concave": (-1, 0), "any": (-1, 1)}[kind]
    bend = 0.03 * rng.uniform(low, high, rounds) if high > low else np.zeros(rounds)
    return np.column_stack((bend, slopes - 2 * bend[:, None] * center, rng.uniform(-1, 1, rounds)))


LEARNER_BEND = 0.06
"""Twice the largest a of those with slopes of at most 1."""
LEARNER_FAR = 1e6
"""How far from 0 a set lies whose losses need its own coordinates."""


# --- players of structured games -----------------------------------------------------------------

PLAYER_VECTORS = {
    d: np.random.default_rng(10 + d).normal(size=(8 + d, d)) * np.arange(1, d + 1) for d in (2, 3)
}
"""Embeddings (n, d) of the actions."""
PLAYER_OPPONENTS = {d: np.random.default_rng(20 + d).normal(size=(6, d)) / 3 for d in (2, 3)}
"""Payoff vectors of which those met are mixtures."""
PLAYER_CORNERS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.4, 0.4], [1.7, 1.1]])
PLAYER_MATRICES = np.random.default_rng(31).uniform(-1, 1, (2, 3, 4))
PLAYER_TENSOR = np.random.default_rng(32).uniform(-1, 1, (3, 2, 2, 3))


def player_met(d: int, rounds: int = 100) -> np.ndarray:
    """Payoff vectors (T, d), mixtures of the opponent's."""
    shares = np.random.default_rng(40 + d).dirichlet(np.full(6, 0.4), rounds)
    return shares @ PLAYER_OPPONENTS[d]


# --- games ---------------------------------------------------------------------------------------


def game_random(shape: tuple[int, ...], seed: int, kind: str = "uniform") -> np.ndarray:
    """Payoffs (N, n_1, …, n_N): uniform, normal, or a share ρ in common ("0.5", "-0.5", "-1")."""
    rng, size = np.random.default_rng(seed), (len(shape), *shape)
    if kind == "uniform":
        return rng.random(size)
    first, other = rng.standard_normal(size)[:2], rng.standard_normal(size)
    if kind == "normal":
        return other
    rho = float(kind)
    return np.stack((first[0], rho * first[0] + np.sqrt(1 - rho * rho) * first[1]))


def game_blotto(troops: int, fields: int) -> np.ndarray:
    """Troops on fields; who has more fields wins."""
    every = itertools.product(range(troops + 1), repeat=fields)
    splits = np.array([split for split in every if sum(split) == troops])
    won = np.sign(np.sign(splits[:, None] - splits).sum(axis=2)).astype(float)
    return np.stack((won, -won))


def game_all_pay(n: int) -> np.ndarray:
    """Bids 0 … n − 1 for a prize worth 0.83·n, lost either way; ties are split."""
    bids, prize = np.arange(n, dtype=float), 0.83 * n
    wins = (bids[:, None] > bids) + 0.5 * (bids[:, None] == bids)
    return np.stack((prize * wins - bids[:, None], prize * (1 - wins) - bids))


def game_traveller(n: int) -> np.ndarray:
    """Claims 2 … n + 1: both get the lower one, and 2 go from the higher to the lower."""
    claims = np.arange(2, n + 2)
    pays = np.minimum.outer(claims, claims) + 2.0 * np.sign(claims - claims[:, None])
    return np.stack((pays, pays.T))


GAME_PAPER = np.array([[0.0, -2.0, 1.0], [2.0, 0.0, -3.0], [-1.0, 3.0, 0.0]])
"""Stone, paper, scissors with stakes: zero-sum, value 0, mixed action (3, 1, 2)/6 of both."""
GAME_CHICKEN = np.array([[[0.0, 7.0], [2.0, 6.0]], [[0.0, 2.0], [7.0, 6.0]]])
GAME_TABLES = {
    "chicken": GAME_CHICKEN,
    "paper": np.stack((GAME_PAPER, -GAME_PAPER)),
    "small 8x8": game_random((8, 8), 1),
    "narrow 40x15": game_random((40, 15), 202),
    "uniform 30x30": game_random((30, 30), 211),
    "normal 80x80": game_random((80, 80), 200, "normal"),
    "common 40x40": game_random((40, 40), 5, "0.5"),
    "opposed 60x60": game_random((60, 60), 6, "-0.5"),
    "zero-sum 50x70": game_random((50, 70), 7, "-1"),
    "blotto 21": game_blotto(5, 3),
    "blotto 84": game_blotto(6, 4),
    "all-pay 40": game_all_pay(40),
    "traveller 30": game_traveller(30),
    "tensor 2x3x4": game_random((2, 3, 4), 8),
    "tensor 6x6x6": game_random((6, 6, 6), 9),
    "tensor 10x9x8": game_random((10, 9, 8), 10, "normal"),
    "four 4x3x4x3": game_random((4, 3, 4, 3), 11),
    "five 3x3x3x3x3": game_random((3,) * 5, 12),
    "small 6x7": game_random((6, 7), 13, "normal"),
    "cube 3x3x3": game_random((3, 3, 3), 14),
}
"""Payoffs (N, n_1, …, n_N) by name; few have pure equilibria."""
GAME_LOW_RANK = tuple(np.random.default_rng(15).normal(size=(2, 50, 3)))
GAME_EMBEDDED = tuple(np.random.default_rng(16).normal(size=(4, 300, 4)))
GAME_PAIRS = {
    (i, j): np.random.default_rng(350 + 20 * i + j).normal(size=(3, 3))
    for i in range(12)
    for j in ((i - 1) % 12, (i + 1) % 12)
}
"""Twelve players on a circle, each with two neighbours."""
GAME_FEW_PAIRS = {
    (0, 1): [[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]],
    (1, 0): [[0.0, 2.0], [1.0, 0.0], [0.5, 0.5]],
    (1, 2): [[2.0, 0.0], [0.0, 1.0], [1.0, 1.5]],
    (2, 1): [[0.0, 1.0, 2.0], [1.0, 0.5, 0.0]],
}
GAME_ROADS = [[0, 2], [1], [2, 3], [0, 1, 3]]
GAME_DELAYS = np.cumsum(np.random.default_rng(17).uniform(0.1, 1.0, (4, 10)), axis=1)
GAME_SPARSE = np.random.default_rng(20).uniform(0, 1, (2, 120, 120)) * (
    np.random.default_rng(21).random((2, 120, 120)) < 0.05
)
GAME_COIN = ([-1, 0, 0, 2, 2], [-1, 0, 0, 1, 1])
GAME_COIN_PAYS = np.random.default_rng(20).integers(-4, 5, (2, 5, 5)).astype(float)


def game_profile(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Probabilities of all joint actions, a third of them 0."""
    rng = np.random.default_rng(seed)
    table = rng.random(shape) * (rng.random(shape) < 2 / 3)
    return table / table.sum()


def game_support(
    sizes: tuple[int, ...], seed: int = 0, rows: int = 7
) -> tuple[np.ndarray, np.ndarray]:
    """Joint actions (m, N) and their probabilities (m,)."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(n, size=rows) for n in sizes]), rng.dirichlet(
        np.ones(rows)
    )


def game_inside(rows: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of numbers in [0, 1] (m, 2), one of them twice, and their probabilities (m,)."""
    rng = np.random.default_rng(61)
    places = rng.random((rows, 2))
    places[1, 0] = places[0, 0]
    return places, rng.dirichlet(np.ones(rows))


GAME_CENTIPEDE = """EFG 2 R "Centipede" { "Ann" "Bob" }
c "" 1 "" { "as usual" .95 "altruist" 5e-2 } 0
p "" 1 1 { "take" "pass" } 0
t "" 1 "" { 0.8, 0.2 }
p "" 2 1 { "take" "pass" } 0
t "" 2 "" { 0.4, 1.6 }
p "" 1 2 { "take" "pass" } 0
t "" 3 "" { 3.2, 0.8 }
p "" 2 2 { "take" "pass" } 0
t "" 4 "" { 1.6, 6.4 }
t "" 5 "" { 12.8, 3.2 }
p "" 1 1 { "take" "pass" } 0
t "" 1 "" { 0.8, 0.2 }
p "" 1 2 { "take" "pass" } 0
t "" 3 "" { 3.2, 0.8 }
t "" 5 "" { 12.8, 3.2 }
"""
GAME_PENNIES_TWICE = """EFG 2 D "Pennies, twice, paid each time" { "Ann" "Bob" }
p "" 1 1 "" { "H" "T" } 0
p "" 2 1 "" { "H" "T" } 0
p "" 1 2 "" { "H" "T" } 1 "same" { 1, -1 }
p "" 2 2 "" { "H" "T" } 0
t "" 1
t "" 2 "other" { -1, 1 }
p "" 2 2 0
t "" 2
t "" 1
t "" 2
p "" 2 1 0
t "" 2
t "" 1
"""
GAME_ODD = 'NFG 1 R "Odd one out" {"a" "b" "c"} {2 2 2} "loses" ' + " ".join(
    ["0 0 0", "-1 1/2 .5", "1/2 -1 .5", "5e-1 0.5 -1.0"]
    + ["1/2 1/2 -1", "0.5 -1 1/2", "-1 .5 .5", "0 0 0"]
)
GAME_OUTCOMES = (
    'NFG 1 R "By outcomes" { "Ann" "Bob" } { { "up" "down" } { "left" "right" } } "" '
    '{ { "a" 1, 2 } { "b" 3/4, -1e1 } { "c" 0.1, .3 } } 1 2 3 0'
)
GAME_JSON = (
    '{"name": "Small", "A": [[0, 7], [2, 6.5]], "B": [[0, 2], [7, 6.1]], "players": ["A", "B"]}'
)
