"""The keys of ``benchmarks.before`` with the names of this tree, on the same inputs.

Of the files of ``make against`` a rename edits this one alone; ``make bench`` has calls of its own.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import deque
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import inputs
from benchmarks.keys import CALL, COLD, FEW, MEMORY, NUMBER, PROCESS, Keys, Missing
from benchmarks.load import Server, drive

KEYS = Keys()
key = KEYS.add

# --- starts and commands: each in a process of its own -------------------------------------------

key("import", PROCESS)(lambda: ["-c", "import fullswap"])
KEYS.first("check", """
import numpy as np, fullswap as fs
rng = np.random.default_rng(0)
p = rng.random(1_000)
str(fs.check((rng.random(1_000) < p).astype(int), p))
""")  # fmt: skip
KEYS.first("forecaster", """
import fullswap as fs
forecaster = fs.Forecaster(seed=1)
forecaster.predict()
forecaster.update(1)
""")  # fmt: skip
KEYS.first("recalibrator", """
import fullswap as fs
recalibrator = fs.Recalibrator(seed=1)
recalibrator.predict(0.3)
recalibrator.update(1)
""")  # fmt: skip
KEYS.first("learner", """
import fullswap as fs
learner = fs.FullSwapLearner(fs.sets.Interval(0, 1), fs.LossClass.squared(1.0), horizon=1_000)
for k in range(10):
    learner.play()
    learner.observe(fs.losses.Quadratic([k % 2]))
""")  # fmt: skip
KEYS.first("ring", """
import fullswap as fs
assert fs.games.solve(fs.games.zoo.ring(100_000), gap=0.01).reached
""")  # fmt: skip
key("figure.first", PROCESS, pairs=5)(lambda: ["-c", """
import io, numpy as np, fullswap as fs
rng = np.random.default_rng(0)
p = rng.random(1_000)
y = (rng.random(1_000) < p).astype(int)
fs.report.reliability_diagram(y, p).savefig(io.BytesIO(), format="svg")
"""])  # fmt: skip
key("recalibrator.all.cold", COLD, pairs=FEW)(lambda: ["-c", """
import numpy as np, fullswap as fs
T = np.arange(20)
p, y, known, keys = np.full(20, 0.3), T % 2, T + 2, T % 2
def use(pattern, **more):
    bank = fs.Bank(pattern)
    pattern.predict(0.3)
    pattern.update(1)
    pattern.run(p, y, **more)
    pattern.run(p, y, known=known, **more)
    bank.run(keys, p, y, **more)
    bank.run(keys, p, y, threads=2, **more)
    bank.run(keys, p, y, known=known, **more)
use(fs.Recalibrator(seed=1))
use(fs.Recalibrator(groups=["a", "b"], seed=1), groups=["a", "b"] * 10)
"""])  # fmt: skip


def command(*arguments: str) -> list[str]:
    """A command, quietly."""
    return ["-m", "fullswap", *arguments, "--quiet"]


def check_file(events: int, *more: str) -> list[str]:
    """`fullswap check` on a log."""
    return command("check", inputs.log_file(events), "--p", "p", "--y", "y", *more)


def replay_file(events: int) -> list[str]:
    """`fullswap forecast` on a log, with all rows written."""
    out = str(inputs.scratch("forecasts.csv"))
    log = inputs.log_file(events)
    return command("forecast", log, "--p", "p", "--y", "y", "--time", "time", "--out", out)


def report(events: int) -> list[str]:
    """`fullswap check` with its page."""
    return check_file(events, "--report", str(inputs.scratch("report.html")))


KEYS.first("command.check", partial(check_file, 1_000))
KEYS.first("command.forecast", partial(replay_file, 1_000))
key("command.report.warm", PROCESS, pairs=5)(partial(report, 1_000))
key("command.help", PROCESS)(lambda: ["-m", "fullswap", "--help"])
for _kind, _end, _unit in ((PROCESS, "", "ms"), (MEMORY, ".memory", "B")):
    _how = {"pairs": FEW, "named": True, "unit": _unit}
    key(f"file.check{_end}", _kind, **_how)(partial(check_file, 10**6))
    key(f"file.report{_end}", _kind, **_how)(partial(report, 10**6))
    key(f"file.recalibrate{_end}", _kind, **_how)(partial(replay_file, 10**6))

# --- forecasts --------------------------------------------------------------------------------


def fs() -> Any:
    """The package, loaded where it is used first."""
    import fullswap

    return fullswap


def prompt(forecaster: Any, outcomes: Any, given: Any = None) -> Any:
    """Events one by one from Python, each outcome before the next forecast."""
    happened, said = outcomes.tolist(), [()] * len(outcomes) if given is None else given

    def run() -> None:
        for outcome, own in zip(happened, said, strict=True):
            forecaster.predict(*own)
            forecaster.update(outcome)

    return run


def late(forecaster: Any, outcomes: Any, wait: int) -> Any:
    """Turns with so many forecasts that wait: one more forecast, the oldest one's outcome."""
    happened = outcomes.tolist()
    waiting = deque(forecaster.predict() for _ in range(wait))

    def run() -> None:
        for outcome in happened:
            waiting.append(forecaster.predict())
            forecaster.update(outcome, forecast=waiting.popleft())

    return run


def turns(events: int, wait: int) -> Any:
    """So many turns of a forecaster."""
    return late(fs().Forecaster(seed=1), inputs.log(events)[0], wait)


def forecaster_run(record: bool, delay: int) -> Any:
    """A run of 200,000 events, outcomes so many rows late."""
    y, _ = inputs.log(200_000)
    known = None if not delay else np.arange(len(y)) + 1 + delay
    return lambda: fs().Forecaster(seed=1).run(y, known=known, record=record)


key("forecaster.one")(lambda: prompt(fs().Forecaster(seed=1), inputs.log(2_000)[0]))
key("forecaster.one.late")(partial(turns, 2_000, 8))
key("forecaster.waiting.1000")(partial(turns, 500, 1_000))
key("forecaster.waiting.100000")(partial(turns, 500, 100_000))
key("forecaster.run")(partial(forecaster_run, False, 0))
key("forecaster.run.recorded")(partial(forecaster_run, True, 0))
key("forecaster.run.late")(partial(forecaster_run, False, 7))
key("forecaster.run.late.recorded")(partial(forecaster_run, True, 7))


@key("recalibrator.run")
def _() -> Any:
    y, p = inputs.log(100_000)
    return lambda: fs().Recalibrator(seed=1).run(p, y)


@key("recalibrator.one")
def _() -> Any:
    y, p = inputs.log(1_000)
    return prompt(fs().Recalibrator(seed=1), y, [(one,) for one in p.tolist()])


def in_groups(groups: int) -> Any:
    """Every event is in two of so many groups."""
    (y, p), own = inputs.log(20_000), inputs.members(20_000, groups)
    return lambda: fs().Recalibrator(groups=range(groups), seed=1).run(p, y, groups=own)


key("recalibrator.groups.20")(partial(in_groups, 20))
key("recalibrator.groups.1000")(partial(in_groups, 1_000))


def of_classes(number: int) -> Any:
    """A recalibrator whose forecasts are calibrated class by class."""
    return fs().Recalibrator(classes=number, seed=1)


def classes_run(number: int, events: int) -> Any:
    """A run of so many events."""
    p, y = inputs.classes(events, number)
    return lambda: of_classes(number).run(p, y)


def classes_one(number: int) -> Any:
    """Events one by one from Python."""
    p, y = inputs.classes(500, number)
    return prompt(of_classes(number), y, [(row,) for row in p])


for _number, _events in ((3, 20_000), (10, 10_000), (100, 1_000)):
    key(f"classes.{_number}.run")(partial(classes_run, _number, _events))
    key(f"classes.{_number}.one")(partial(classes_one, _number))


@key("classes.10.alone")
def _() -> Any:
    _, y = inputs.classes(10_000, 10)
    make = partial(fs().MulticlassForecaster, 10, seed=1)
    return lambda: make().run(y)


def filled(streams: int, events: int) -> Any:
    """A bank of so many streams, met in a random order."""
    bank = fs().Bank(fs().Recalibrator(seed=1))
    y, p = inputs.log(events)
    bank.run(inputs.keys(events, streams), p, y, record=False, threads=1)
    return bank


key("bank.run")(lambda: partial(filled, 1_000, 100_000))


@key("bank.bytes", NUMBER, pairs=1, unit="B")
def _() -> Any:
    return lambda: (lambda bank: bank.nbytes / len(bank))(filled(1_000, 100_000))


@key("recalibrate.file")
def _() -> Any:
    from fullswap.replay import ReplaySettings
    from fullswap.replay import replay_file as replay

    log, roles = inputs.log_file(20_000), {"y": ["y"], "p": ["p"], "time": "time"}
    return lambda: replay(log, roles, ReplaySettings(), progress=False)


# --- checks and monitors --------------------------------------------------------------------------


def checked(events: int, cut: bool = False) -> Any:
    """A check with all that it prints."""
    y, p = inputs.log(events)
    by = {"region": inputs.segments(events)} if cut else None
    return lambda: str(fs().check(y, p, by=by))


key("check.1e5")(partial(checked, 10**5))
key("check.1e6")(partial(checked, 10**6))
key("check.1e6.segments", pairs=5)(partial(checked, 10**6, True))


@key("monitor.one")
def _() -> Any:
    y, p = (column.tolist() for column in inputs.log(2_000))
    monitor = fs().Monitor()

    def run() -> None:
        for outcome, said in zip(y, p, strict=True):
            monitor.update(outcome, said)

    return run


def watched(streams: int, events: int) -> Any:
    """A batch of events of so many streams."""
    y, p = inputs.log(events)
    keys, bank = inputs.keys(events, streams), fs().MonitorBank(fs().Monitor())
    return lambda: bank.update(keys, y, p)


key("monitorbank.1")(partial(watched, 1, 1_000))
key("monitorbank.100")(partial(watched, 100, 1_000))
key("monitorbank.1000")(partial(watched, 1_000, 1_000))
key("monitorbank.1e5")(partial(watched, 1_000, 10**5))

# --- learners ---------------------------------------------------------------------------------


def learning(dim: int, rounds: int, row: str | None, **how: Any) -> Any:
    """A run on the ball of radius 1, or on [-1, 1], against squared distances."""
    own = fs().sets.Ball(np.zeros(dim), 1.0) if dim > 1 else fs().sets.Interval(-1.0, 1.0)
    promised, losses = fs().LossClass.squared(2.0), inputs.targets(rounds, dim)
    losses = fs().losses.quadratic_rows(losses)
    make = partial(fs().FullSwapLearner, own, promised, rounds, row=row, track=False, **how)
    return lambda: make().run(losses)


gradient: Any = {"learner": "gradient"}
key("learner.1")(
    partial(learning, 1, 20_000, "strongly convex and smooth", mesh=0.05, rule="crossing",
            **gradient)
)  # fmt: skip
key("learner.2")(partial(learning, 2, 20_000, "strongly convex and smooth", mesh=0.1, **gradient))
key("learner.2.net")(partial(learning, 2, 20_000, "strongly convex", mesh=0.1, **gradient))
key("learner.3")(partial(learning, 3, 10_000, "strongly convex and smooth", mesh=0.3, **gradient))
key("learner.tree")(partial(learning, 3, 20_000, "tree"))
key("learner.default")(partial(learning, 2, 10_000, None))


@key("learner.make")
def _() -> Any:
    make, squared = fs().FullSwapLearner, fs().LossClass.squared(2.0)
    ball = fs().sets.Ball(np.zeros(2), 1.0)
    return lambda: make(ball, squared, 10_000, row="strongly convex", mesh=0.05, learner="gradient")


for _dim in (3, 6):

    @key(f"structured.{_dim}")
    def _(dim: int = _dim) -> Any:
        vectors, payoffs = inputs.unit_vectors(200, dim), inputs.targets(300, dim)
        actions = fs().games.Vectors(vectors)
        how = {"row": "concave", "mesh": 0.7} if dim == 3 else {"row": "tree"}

        def run() -> None:
            player = fs().games.StructuredLearner(actions, 1.0, len(payoffs), **how)
            for payoff in payoffs:
                player.play()
                player.observe(payoff)

        return run


# --- games ------------------------------------------------------------------------------------


def solving(game: Any, gap: float, **how: Any) -> Any:
    """An equilibrium to a gap that is reached."""

    def run() -> None:
        found = fs().games.solve(game, gap, **how)
        assert found.reached, f"{found.method} ended at a gap of {found.gap}"

    return run


def matrices(tables: tuple[Any, Any], share: float = 1e-3, **how: Any) -> Any:
    """Of two tables, to a share of the range of payoffs."""
    return solving(fs().games.from_matrices(*tables), share * inputs.spread(*tables), **how)


key("ring.1e5")(lambda: solving(fs().games.zoo.ring(100_000), 0.01))
key("auction")(lambda: solving(fs().games.zoo.auction(16, 4), 1e-3))
key("random.100")(lambda: matrices(inputs.random_game(100, 1)))
key("random.300")(lambda: matrices(inputs.random_game(300, 0)))
key("welfare.300")(lambda: matrices(inputs.random_game(300, 0), 1e-6, objective="welfare"))
key("welfare.opposed", pairs=FEW)(
    lambda: matrices(inputs.opposed_game(60), 1e-6, objective="welfare")
)
key("nearzero.200")(lambda: matrices(inputs.near_zero_sum(200, -0.5, 0)))
key("nearzero.500", pairs=FEW)(lambda: matrices(inputs.near_zero_sum(500, -0.5, 1), 2e-3))
key("blotto.286")(lambda: matrices(inputs.blotto(10, 4)))


@key("files")
def _() -> Any:
    paths = inputs.game_files()
    if not paths:
        raise Missing("no DATA")

    def run() -> None:
        for path in paths:
            game = fs().games.read(path)
            assert fs().games.solve(game, 1e-3).reached, path

    return run


key("dice.read", pairs=FEW)(lambda: partial(fs().games.read, inputs.liars_dice()))


@key("dice.rounds")
def _() -> Any:
    game = fs().games.read(inputs.liars_dice())
    return lambda: fs().games.solve(game, 1e-9, "matching", rounds=200)


# --- the service ------------------------------------------------------------------------------


def served(folder: Any) -> Server:
    """``fullswap serve`` on a free port, once it answers."""
    address = r"listening on http://127\.0\.0\.1:(\d+)\b"
    server = Server(["-m", "fullswap", "serve", str(folder), "--port", "0"], address)
    server.ask("/healthz")
    return server


@cache
def fresh() -> Server:
    """On a folder of its own; it ends with this process."""
    return served(Path(tempfile.mkdtemp()) / "kept")


def both(stream: str, count: int, random: Any) -> Any:
    """Forecasts of a hundred streams, then their outcomes: two requests."""
    p = random.random(count).round(6).tolist()
    items = [{"stream": f"{stream}-{k % 100}", "p": said} for k, said in enumerate(p)]
    answer = yield "/v1/forecasts", {"items": items}
    told = [{"id": one["id"], "outcome": int(said > 0.5)}
            for one, said in zip(answer["items"], p, strict=True)]  # fmt: skip
    answer = yield "/v1/outcomes", {"items": told}
    assert all(one["status"] == "learnt" for one in answer["items"])


def rounds_of(stream: str, count: int, rounds: int, seed: int) -> Any:
    """So many rounds of one connection."""
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        yield from both(stream, count, random)


def asked(count: int, rounds: int, wall: bool) -> Any:
    """Rounds on one connection: milliseconds of each, of the service's processor or on the wall."""
    server, numbers = fresh(), iter(range(10**9))

    def run() -> float:
        before = server.spent()
        seconds, _ = drive(server.port, [rounds_of("one", count, rounds, next(numbers))])
        return (1e3 * seconds if wall else server.spent() - before) / rounds

    return run


key("service.pair", NUMBER)(partial(asked, 1, 200, False))
key("service.batch", NUMBER)(partial(asked, 1_000, 8, False))
key("service.pair.wall", NUMBER, named=True)(partial(asked, 1, 100, True))
key("service.batch.wall", NUMBER, named=True)(partial(asked, 1_000, 4, True))


def loaded(count: int, rounds: int, share: float | None) -> Any:
    """64 connections: milliseconds an event, or what this share of requests did not pass."""
    server, numbers = fresh(), iter(range(10**9))

    def run() -> float:
        scripts = [rounds_of(f"c{k}", count, rounds, next(numbers)) for k in range(64)]
        seconds, times = drive(server.port, scripts)
        if share is None:
            return 1e3 * seconds / (64 * rounds * count * 2)
        return 1e3 * float(np.quantile(times, share))

    return run


key("load.single", NUMBER, named=True)(partial(loaded, 1, 50, None))
key("load.single.p99", NUMBER, named=True)(partial(loaded, 1, 50, 0.99))
key("load.batch", NUMBER, named=True)(partial(loaded, 1_000, 2, None))
key("load.batch.p99", NUMBER, named=True)(partial(loaded, 1_000, 2, 0.99))


@key("service.start", NUMBER, named=True)
def _() -> Any:
    folder = Path(tempfile.mkdtemp()) / "kept"
    server = served(folder)
    for k in range(100):
        drive(server.port, [rounds_of(f"s{k}", 100, 1, k)])
    server.stop()

    def run() -> float:
        begun = time.perf_counter()
        again = served(folder)
        seconds = time.perf_counter() - begun
        again.stop()
        return 1e3 * seconds

    return run


# --- Spark ------------------------------------------------------------------------------------


@key("spark", CALL, wall=True, pairs=FEW, named=True)
def _() -> Any:
    try:
        from fullswap.integrations.spark import recalibrate, session
    except ImportError as error:
        raise Missing(str(error)) from None
    if not shutil.which("java"):
        raise Missing("no Java")
    spark = session("against", inputs.SPARK)
    rows = spark.read.parquet(inputs.rows_folder(10**6, 10**4))
    columns = {"key": "key", "time": "time", "probability": "p", "outcome": "y"}
    names, pattern = iter(range(10**9)), fs().Recalibrator(seed=7)

    def run() -> None:
        out = Path(tempfile.mkdtemp()) / str(next(names))
        recalibrate(rows, **columns, pattern=pattern).write.parquet(str(out))

    return run
