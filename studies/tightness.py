"""``python -m studies tightness``: how near adversaries come to what is guaranteed.

For each way of using it (``SETTINGS``) a search over adversaries (``studies.duels``) looks for the
largest calibration error at the smallest number of events; the best few are tried, and varied a
little, at larger ones. What is reported is measured with draws of other seeds than those of the
search, so that no luck is reported: with realised feedback a guarantee is for the average over
draws, and so is the error here.

The error is that of the second forecaster in ``studies.duels``. The library's replays the same
outcomes with the same draws, must come to the same error, and says what it guarantees.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

import fullswap as fs
from fullswap.certificates import Quantity
from studies.duels import Adversary, Duel, Rules, duel, neighbour, random_adversary
from studies.report.markers import rewrite
from studies.report.text import table
from studies.runs import Row, number, provenance, to_csv, write
from studies.trees import largest_error

NAME = "tightness"
SIZES = {True: (1_000, 10_000), False: (10_000, 100_000, 1_000_000)}
"""Events, if it has to be quick and if not."""
TREE = 12
"""Events of the trees in which everything that can happen is tried."""
STRONG = (
    Adversary(),
    Adversary(centre=0.46, down=True),
    Adversary(centre=0.46, down=True, cool=1.0, warm=1.5),
    Adversary(evenness=1.9, centre=0.55, early=0.08, warm=1.0),
    Adversary(evenness=2.0, centre=0.52, down=True, turning=True),
    Adversary(low=0.5, high=0.8),
    Adversary(low=0.52, high=0.53),
)
"""Where the search starts: these are strong on most grids."""
LEADERS = 4
"""Adversaries that are kept and varied."""
_FRESH = 1_000
"""First seed of the runs that are reported: the search never saw them."""
_MARGINS = 4.0
"""Standard errors beyond which luck is no excuse."""
_CLOSE = 1e-6
"""Relative difference that rounding may make between the two forecasters."""


@dataclass(frozen=True)
class Setting:
    """One way of using the forecaster."""

    name: str
    known: bool = True
    step: str | None = None
    weighted: bool = False
    late: int = 0
    shared: int = 1

    def forecaster(self, feedback: str, events: int, seed: int) -> fs.Forecaster:
        """A new one."""
        horizon = events if self.known else None
        return fs.Forecaster(horizon, self.step, feedback=feedback, seed=seed)


SETTINGS = (
    Setting("horizon known"),
    Setting("horizon unknown", known=False),
    Setting("in steps of 5 %", step="5%"),
    Setting("in steps of 25 %", step="25%"),
    Setting("weights in [0, 1]", weighted=True),
    Setting("10 forecasts an event", shared=10),
    Setting("1 event late", late=1),
    Setting("7 events late", late=7),
)


@dataclass(frozen=True)
class Budget:
    """How much is tried at a number of events."""

    tries: int
    seeds: int
    reported: int
    """Seeds of what is reported."""

    @classmethod
    def at(cls, events: int, realised: bool, quick: bool) -> Budget:
        """Fewer where runs are long; one seed where nothing is drawn but what learns is not."""
        seeds, reported = (
            (20, 100) if events <= 10_000 else (5, 20) if events <= 100_000 else (3, 8)
        )
        tries = 300 if events <= 10_000 else 40 if events <= 100_000 else 20
        if quick:
            tries, seeds, reported = min(tries, 60), min(seeds, 5), min(reported, 20)
        return cls(tries, seeds, reported) if realised else cls(3 * tries, 1, 3)


def margin(rules: Rules, adversary: Adversary, events: int, seeds: Sequence[int]) -> float:
    """Standard error of that mean; 0 where nothing that learns is drawn."""
    if not rules.realised:
        return 0.0
    return stdev(duel(rules, adversary, events, seed).error for seed in seeds) / len(seeds) ** 0.5


def error(rules: Rules, adversary: Adversary, events: int, seeds: Sequence[int]) -> float:
    """Mean over seeds of the measured calibration error."""
    return fmean(duel(rules, adversary, events, seed).error for seed in seeds)


def worst(
    rules: Rules, events: int, budget: Budget, known: Sequence[Adversary], rng: np.random.Generator
) -> list[Adversary]:
    """The strongest adversaries found, the best first.

    Those found with fewer events, the usual strong ones, and neighbours of the best; if none were
    found before, random ones too. With realised feedback some are only lucky: the leaders play
    once more.
    """
    seeds = range(budget.seeds)
    tried = [(error(rules, one, events, seeds), one) for one in (*known, *STRONG)]
    explored = 0 if known else budget.tries // 2
    while len(tried) < budget.tries:
        if len(tried) < explored:
            one = random_adversary(rng)
        else:
            leaders = sorted(tried, key=_strength)[:LEADERS]
            one = neighbour(leaders[int(rng.integers(len(leaders)))][1], rng)
        tried.append((error(rules, one, events, seeds), one))
    leaders = sorted(tried, key=_strength)[: 2 * LEADERS]
    if rules.realised:
        more = range(budget.seeds, 4 * budget.seeds)
        leaders = sorted(
            ((error(rules, one, events, more), one) for _, one in leaders), key=_strength
        )
    return [one for _, one in leaders[:LEADERS]]


def _strength(found: tuple[float, Adversary]) -> float:
    """The strongest come first."""
    return -found[0]


def replayed(setting: Setting, feedback: str, played: Duel, seed: int) -> fs.Forecaster:
    """The library's forecaster after the same outcomes, known as late as then."""
    events = len(played.outcomes)
    forecaster = setting.forecaster(feedback, events, seed)
    if setting.late == 0 and setting.shared == 1:
        weights = played.weights if setting.weighted else None
        forecaster.run(played.outcomes, weights, record=False, progress=False)
        return forecaster
    waiting: list[Any] = []
    pairs = zip(played.outcomes.tolist(), played.weights.tolist(), strict=True)
    for t, (outcome, weight) in enumerate(pairs, 1):
        waiting.append((forecaster.predict(), outcome, weight))
        if t == events or (setting.shared > 1 and t % setting.shared == 0):
            ready = len(waiting)
        else:
            ready = int(setting.shared == 1 and len(waiting) > setting.late)
        for forecast, happened, share in waiting[:ready]:
            forecaster.update(happened, forecast, weight=share)
        del waiting[:ready]
    return forecaster


def guaranteed_by_the_library(
    setting: Setting, feedback: str, played: Duel, library: fs.Forecaster
) -> float | None:
    """What is guaranteed after these events; forecasts that share an outcome name their event."""
    if setting.shared == 1:
        return library.guarantee
    named = setting.forecaster(feedback, len(played.outcomes), _FRESH)
    blocks = np.arange(len(played.outcomes)) // setting.shared
    named.run(played.outcomes, event=blocks, record=False, progress=False)
    return named.certificate().guaranteed


def measured_by_the_library(forecaster: fs.Forecaster) -> float:
    """Its calibration error."""
    for certificate in forecaster.certificates():
        if certificate.quantity is Quantity.L2_CALIBRATION_ERROR:
            return float(certificate.measured)
    raise ValueError("the forecaster must certify its calibration error, got none")


def rows_of(
    setting: Setting, feedback: str, sizes: Sequence[int], quick: bool, seed: int
) -> Iterator[Row]:
    """What was found at each number of events."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting), feedback == "realised"])
    best: list[Adversary] = []
    for events in sizes:
        about: Row = {"setting": setting.name, "feedback": feedback, "events": events}
        forecaster = setting.forecaster(feedback, events, 0)
        rules = Rules.of(forecaster, events, setting.weighted, setting.late, setting.shared)
        budget = Budget.at(events, rules.realised, quick)
        best = worst(rules, events, budget, best, rng)
        fresh = range(_FRESH, _FRESH + budget.reported)
        found = [error(rules, one, events, fresh) for one in best]
        measured = max(found)
        strongest = best[found.index(measured)]
        one = duel(rules, strongest, events, _FRESH)
        library = replayed(setting, feedback, one, _FRESH)
        theirs = measured_by_the_library(library)
        if abs(theirs - one.error) > _CLOSE * max(1.0, theirs):
            raise RuntimeError(
                f"both forecasters must have one error, got {one.error} and {theirs} "
                f"({setting.name}, {feedback}, {events} events)"
            )
        guaranteed = guaranteed_by_the_library(setting, feedback, one, library)
        yield {
            **about, "points": len(one.points), "measured": measured,
            "margin": margin(rules, strongest, events, fresh),
            "guaranteed": guaranteed,
            "ratio": None if guaranteed is None else measured / guaranteed,
            "adversary": strongest.kind,
            **{key: value for key, value in asdict(strongest).items() if key != "kind"},
        }  # fmt: skip


def tree_row(setting: Setting, feedback: str, events: int) -> Row:
    """The largest expected error that any adversary can reach in a few events."""
    rules = Rules.of(setting.forecaster(feedback, events, 0), events)
    forecaster = setting.forecaster(feedback, events, 0)
    forecaster.run(np.zeros(events), record=False)  # an unknown horizon: guaranteed so far
    measured, guaranteed = largest_error(rules, events), forecaster.guarantee
    assert guaranteed is not None, "labels came at once"
    return {
        "setting": setting.name, "feedback": feedback, "events": events, "points": len(rules.grids),
        "measured": measured, "guaranteed": guaranteed, "ratio": measured / guaranteed,
        "adversary": "any",
    }  # fmt: skip


def markdown(rows: Sequence[Row]) -> str:
    """A row a setting, and for each number of events what was reached of the guarantee."""
    sizes = sorted({int(row["events"] or 0) for row in rows if row.get("adversary") != "any"})
    parts = []
    for feedback in ("realised", "distribution"):
        lines = []
        for name in dict.fromkeys(row["setting"] for row in rows):
            own = [row for row in rows if (row["setting"], row["feedback"]) == (name, feedback)]
            found = {row["events"]: _cell(row) for row in own}
            lines.append((str(name), *(found.get(size, "–") for size in (*sizes, TREE))))
        heads = [*(f"{size:,} events" for size in sizes), f"{TREE} events, all of them"]
        parts.append(f"Feedback: {feedback}.\n\n" + table(("use", *heads), lines))
    intro = (
        f"Measured by `make tightness` ({provenance()['revision']}): the largest calibration "
        "error that a search over adversaries found, beside the guarantee known beforehand, and "
        "its share of it. Realised feedback: means over draws that the search had not seen, with "
        "their standard error (±) where they lie above what is guaranteed on average. The "
        "last column is exact: no adversary can do more in so few events."
    )
    return "\n\n".join([intro, *parts])


def beyond(row: Row) -> bool:
    """Whether more was measured than is guaranteed, and not by the luck of the draws.

    A guarantee for realised feedback is one for the average over draws, and where it is tight the
    mean of a few runs lies above it as often as below.
    """
    if row.get("ratio") is None:
        return False
    spread = number(row, "margin") if "margin" in row else 0.0
    return number(row, "measured") - _MARGINS * spread > (1 + _CLOSE) * number(row, "guaranteed")


def _cell(row: Row) -> str:
    measured, guaranteed = number(row, "measured"), row.get("guaranteed")
    if row["ratio"] is None or guaranteed is None:
        return f"{_plain(measured)}, nothing is guaranteed"
    error = _plain(measured)
    if measured > number(row, "guaranteed") and "margin" in row:  # the luck of some draws
        error += f" ± {_plain(number(row, 'margin'))}"
    return f"{error} of {_plain(number(row, 'guaranteed'))}: {number(row, 'ratio'):.2f}"


def _plain(value: float) -> str:
    """Three figures, or all before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, print, write; 1 if a guarantee was exceeded."""
    parser = argparse.ArgumentParser("python -m studies tightness", description=__doc__)
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--quick", action="store_true", help="a minute, with up to 10,000 events")
    scale.add_argument("--full", dest="quick", action="store_false", help="minutes; the default")
    parser.add_argument("--seed", type=int, default=0, help="of the search")
    parser.add_argument("--out", type=Path, help="folder for tightness.csv; results/tightness")
    parser.add_argument("--page", type=Path, help="file with the markers, to be rewritten")
    asked = parser.parse_args(arguments)
    began = time.monotonic()
    rows: list[Row] = []
    for setting in SETTINGS:
        for feedback in ("realised", "distribution"):
            for row in rows_of(setting, feedback, SIZES[asked.quick], asked.quick, asked.seed):
                rows.append(row)
                spent = time.monotonic() - began
                line = f"{setting.name}, {feedback}, {row['events']:,}: {_cell(row)}"
                print(f"{spent:5.0f} s  {line}", file=sys.stderr)
            if not (setting.weighted or setting.late or setting.shared > 1):
                rows.append(tree_row(setting, feedback, TREE))
    folder = asked.out or Path("results") / NAME
    write(folder / f"{NAME}.csv", to_csv(rows))
    content = markdown(rows)
    print(content)
    if asked.page is not None:
        rewrite(asked.page, NAME, content)
    exceeded = [row for row in rows if beyond(row)]
    for row in exceeded:
        print(f"exceeded: {row}", file=sys.stderr)
    return 1 if exceeded else 0
