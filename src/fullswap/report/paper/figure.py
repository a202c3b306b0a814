"""The paper's figure: regret against the step of the forecasts, and an erratum beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from fullswap.experiments.approaches import PAPER, PROVED
from fullswap.report.paper.figure_pictures import (
    LOOKS,
    draw_midpoint,
    draw_steps,
    runs_of,
    step_of,
)
from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.paper.words import FAR, interval, listed, signed, spaced
from fullswap.report.style import count_of, figures

_SAID = {name: look[2] for name, look in LOOKS.items()} | {
    "discretised": "the discretised algorithm"
}
"""Approach ↦ name within a sentence."""


def section(summary: Mapping[str, Any], command: str) -> Section:
    """What was measured of the figure."""
    longest = summary["horizons"][-1]
    tossed = summary["midpoint"]
    return Section(
        "The figure: forecasts in multiples of ε",
        command,
        (
            Paragraph(
                "A forecaster of yes-or-no events may only say multiples of ε = 1/m. Its "
                "discretised swap regret is Σ n_p·[(p − b̄_p)² − ([b̄_p] − b̄_p)²] over the forecasts "
                "p, where n_p is the weight that p carried, b̄_p the mean outcome that it met and "
                "[·] the nearest multiple of ε. Three approaches: **multiplicative weights** over "
                "the m + 1 multiples (Blum–Mansour); **rounding** the forecasts of a calibrated "
                "forecaster that may say anything; and the paper’s **discretised algorithm**. "
                + _about_runs(summary)
            ),
            Picture(
                "figure-steps",
                f"The paper’s axes: regret against ε, both as powers of T. In (a) to (c), markers: "
                f"the worst regret measured; thin lines: guaranteed at most, at T = {longest:,}; "
                f"dashed: the curves of the paper’s figure, without constants and logarithms; "
                f"dotted: for rounding the exponent of the bound derived here, for the discretised "
                f"algorithm the guarantee of the library’s own choice. Vertical line in (b): "
                f"ε = T^(−1/6), up to which the bound derived here is below √T in rate. (d): the "
                f"worst regret measured at T = {longest:,}. A constant factor c moves a point up "
                f"by ln c/ln T, which vanishes slowly.",
                lambda: draw_steps(summary),
            ),
            Paragraph(_about_lowest(summary)),
            _steps_table(summary),
            Paragraph(_about_growth(summary)),
            _growth_table(summary),
            Paragraph(_about_rounding(summary)),
            Paragraph(_about_choice(summary)),
            Paragraph(
                "**An erratum.** The paper defines the discretised calibration error with "
                "(p − [b̄_p])² in place of the difference above. Let outcomes be coins whose chance "
                "lies half-way between two multiples. Whichever of the two is said, and whenever, "
                "the mean outcome ends on the wrong side of half-way with a chance that does not "
                "vanish. So every forecaster that says multiples has an expected error of at least "
                "the order of ε²·T if ε is well above T^(−1/3). That is more than the theorem’s "
                "max(T^(1/3), √(εT)), which therefore holds for the swap regret and not for this "
                "error. Swap regret does not mind: half-way, both multiples lose the same. "
                + _about_midpoint(tossed)
            ),
            Picture(
                "figure-midpoint",
                "Coins with a chance half-way between two multiples of ε: the error as the paper "
                "defines it (filled, solid) and the swap regret (open, dashed) against the number "
                "of rounds T, means over repeated runs. Grey: ε²·T/2, for comparison. “No "
                "rounding” is the calibrated forecaster before its forecasts are rounded; it does "
                "not keep to the multiples.",
                lambda: draw_midpoint(tossed),
            ),
            _midpoint_table(tossed),
        ),
    )


# --- Sentences -----------------------------------------------------------------------------------


def _about_runs(summary: Mapping[str, Any]) -> str:
    exceeded, longest = summary["exceeded"], summary["without_catalogue"]
    text = (
        f"Each met the adversaries of the library, others that are aimed at the multiples, and the "
        f"worst that a search of {count_of(summary['budget'], 'run')} found for it at "
        f"T = {summary['found_at']:,}, carried over to longer runs"
    )
    if longest:
        text += f" (at T = {listed([f'{t:,}' for t in longest])} only the latter two)"
    text += f". All {summary['runs']:,} runs are of the squared loss"
    if summary["real_outcomes"]:
        text += f"; in {summary['real_outcomes']:,} of them some outcomes lay between 0 and 1"
    if exceeded:
        return f"{text}. **In {count_of(exceeded, 'run')} the guarantee was exceeded.**"
    return f"{text}. In none was the guarantee exceeded."


def _about_lowest(summary: Mapping[str, Any]) -> str:
    longest = summary["horizons"][-1]
    return (
        f"At T = {longest:,}, among the steps measured, the lowest worst regret is that of "
        f"{_lowest(summary, 'measured')}. The lowest guarantee of the three is that of "
        f"{_lowest(summary, 'guaranteed')}. Rounding is jagged, because what it costs depends on "
        f"where the forecaster’s own grid lies between the multiples."
    )


def _lowest(summary: Mapping[str, Any], key: str) -> str:
    """Who is lowest for which steps, from coarse to fine."""
    here = _at(summary, summary["horizons"][-1])
    by_steps = [
        (steps, min(runs, key=lambda run: run[key])["approach"])
        for steps, runs in sorted(here.items())
    ]
    said = []
    for approach, run in groupby(by_steps, key=lambda pair: pair[1]):
        steps = [pair[0] for pair in run]
        where = (
            f"{step_of(steps[0])} to {step_of(steps[-1])}" if len(steps) > 1 else step_of(steps[0])
        )
        said.append(f"{_SAID[approach]} for ε = {where}")
    return listed(said)


def _about_growth(summary: Mapping[str, Any]) -> str:
    longest = summary["horizons"][-1]
    said = []
    for approach in PAPER:
        runs = runs_of(summary, approach, longest)
        shares = [run["measured"] / run["guaranteed"] for run in runs]
        low, high = f"{100 * min(shares):.2g} %", f"{100 * max(shares):.2g} %"
        between = low if low == high else f"{low} to {high}"
        said.append(f"{between} of the guarantee for {_SAID[approach]}")
    text = f"The worst regret measured at T = {longest:,} is {listed(said)}. "
    below = _places(summary, lambda line: line["measured"][0] < line["proved"] - FAR)
    above = _places(summary, lambda line: line["measured"][0] > line["proved"] + FAR)
    text += "Along ε = T^(−a), the exponent with which the worst regret grows is "
    if below:
        text += (
            f"more than {FAR:g} below that of the smallest proved bound for {below}: either worse "
            f"adversaries exist or the bound is not tight there."
        )
    else:
        text += f"nowhere more than {FAR:g} below that of the smallest proved bound."
    if above:
        text += (
            f" It is more than {FAR:g} above for {above}: a bound limits the regret, not its "
            f"slope between a few T"
        )
        text += "." if summary["exceeded"] else "; all these runs are within their guarantees."
    return text


def _places(summary: Mapping[str, Any], chosen: Callable[[Mapping[str, Any]], bool]) -> str:
    """Approaches and exponents a of the chosen lines of growth, in words; empty if none is."""
    found = [(line["approach"], line["exponent"]) for line in summary["growth"] if chosen(line)]
    places = [
        f"{_SAID[approach]} at a = {listed([f'{a:.2g}' for _, a in group])}"
        for approach, group in groupby(found, key=lambda pair: pair[0])
    ]
    return listed(places) if places else ""


def _about_rounding(summary: Mapping[str, Any]) -> str:
    longest = summary["horizons"][-1]
    rounded = [run for run in runs_of(summary, "rounding", longest) if "by_shift" in run]
    text = (
        "**Rounding has less swap regret than ε²·T.** If a forecaster has l2 calibration error at "
        "most Cal, its rounded forecasts have discretised swap regret at most Cal + 2ε·√(T·Cal). "
        "(A forecast at distance e from its mean outcome gains, once rounded, at most e² + 2εe by "
        "any swap; sum and use Cauchy–Schwarz.) With Cal = Õ(T^(1/3)) that is "
        "Õ(T^(1/3) + ε·T^(2/3)): in rate less than the paper’s T^(1/3) + ε²·T for ε above "
        "T^(−1/3), and below √T up to ε = T^(−1/6), not T^(−1/4). For the error as the paper "
        "defines it, ε²·T cannot be avoided. "
    )
    better = [run for run in rounded if run["by_shift"] < run["by_square"]]
    if not better:
        return text + (
            f"At T = {longest:,} and these ε the direct argument for the paper’s form, "
            f"(√Cal + ε·√T/2)², still gives the smaller number."
        )
    most = max(better, key=lambda run: run["by_square"] / run["by_shift"])
    finest = max(run["steps"] for run in better)
    where = f"from {step_of(finest)} up" if finest > 1 else "= 1"
    return text + (
        f"At T = {longest:,} and ε = {step_of(most['steps'])}, Cal + 2ε·√(T·Cal) is "
        f"{figures(most['by_shift'])}, where the direct argument for the paper’s form, "
        f"(√Cal + ε·√T/2)², gives {figures(most['by_square'])}; of the steps measured, the former "
        f"is the smaller one for ε {where}. The guarantee shown is the smaller of the two."
    )


def _about_choice(summary: Mapping[str, Any]) -> str:
    longest = summary["horizons"][-1]
    runs = runs_of(summary, "discretised", longest)
    text = (
        "The discretised algorithm has a learner for every multiple, as in the paper, with the "
        "corrections listed under errata; only for ε below T^(−1/3) it plays on some of them. "
        "Left alone, `FullSwapLearner` with these multiples as `actions` takes the row of the "
        "table with the smallest guarantee"
    )
    most = max(runs, key=lambda run: run["guaranteed"] / run["own_choice"])
    if most["guaranteed"] <= most["own_choice"] * 1.01:
        return f"{text}, which here is the same."
    return (
        f"{text}: at T = {longest:,} and ε = {step_of(most['steps'])} that guarantees at most "
        f"{figures(most['own_choice'])} in place of {figures(most['guaranteed'])}."
    )


def _about_midpoint(tossed: Sequence[Mapping[str, Any]]) -> str:
    """Ranges over the approaches that say multiples."""
    lines = [line for line in tossed if line["approach"] in PAPER]
    shares = [line["calibration"][-1] * line["steps"] ** 2 / line["horizons"][-1] for line in lines]
    growth = [line["calibration_exponent"][0] for line in lines]
    text = (
        f"Measured at the largest T of each: {min(shares):.2g} to {max(shares):.2g} times ε²·T, "
        f"growing with exponents from {signed(min(growth))} to {signed(max(growth))}"
    )
    # a ratio to nothing but rounding errors tells nothing
    lines = [line for line in lines if line["regret"][-1] >= 1e-9]
    if not lines:
        return f"{text}; the same runs have no swap regret."
    times = [line["calibration"][-1] / line["regret"][-1] for line in lines]
    slower = [line["regret_exponent"][0] for line in lines]
    return (
        f"{text}; the swap regret of the same runs is {figures(min(times))} to "
        f"{figures(max(times))} times smaller and grows with exponents from "
        f"{signed(min(slower))} to {signed(max(slower))}."
    )


# --- Tables --------------------------------------------------------------------------------------


def _steps_table(summary: Mapping[str, Any]) -> Table:
    longest = summary["horizons"][-1]
    return Table(
        f"Discretised swap regret at T = {longest:,}: the worst run of each approach",
        ("ε", "approach", "measured", "guaranteed at most", "ratio", "worst adversary"),
        tuple(
            (
                step_of(steps), LOOKS[run["approach"]][2], figures(run["measured"]),
                figures(run["guaranteed"]), f"{run['measured'] / run['guaranteed']:.3f}",
                _adversary(run),
            )
            for steps, runs in sorted(_at(summary, longest).items())
            for run in runs
        ),
    )  # fmt: skip


def _growth_table(summary: Mapping[str, Any]) -> Table:
    lines = summary["growth"]
    derived = [approach for approach in PAPER if PROVED[approach] is not PAPER[approach]]
    rows = []
    for a in sorted({line["exponent"] for line in lines}):
        cells = [f"{a:.3g}"]
        for line in lines:
            if line["exponent"] == a:
                cells += [_exponent(line["measured"]), f"{line['paper']:.2f}"]
                cells += [f"{line['proved']:.2f}"] * (line["approach"] in derived)
        rows.append(tuple(cells))
    columns = ["a"]
    for approach in PAPER:
        name = LOOKS[approach][2]
        columns += [f"{name}, measured", f"{name}, paper"]
        columns += [f"{name}, derived here"] * (approach in derived)
    first, last = summary["horizons"][0], summary["horizons"][-1]
    caption = (
        f"Exponents of T along ε = T^(−a), from T = {first:,} to {last:,}: of the worst regret "
        f"measured, and of the bounds; only adversaries that played at every T"
    )
    if all(len(line["measured"]) == 1 for line in lines):
        caption += ". Few T: no intervals"
    return Table(caption, tuple(columns), tuple(rows))


def _midpoint_table(tossed: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        f"Coins half-way between two multiples: both quantities at the largest T of each "
        f"approach, and exponents of T from T = {tossed[0]['fitted_from']:,} on",
        (
            "ε", "approach", "T", "error as the paper defines it", "its exponent", "swap regret",
            "exponent of the swap regret",
        ),
        tuple(
            (
                step_of(line["steps"]), LOOKS[line["approach"]][2], f"{line['horizons'][-1]:,}",
                figures(line["calibration"][-1]), _exponent(line["calibration_exponent"]),
                figures(line["regret"][-1]), _exponent(line["regret_exponent"]),
            )
            for line in tossed
        ),
    )  # fmt: skip


# --- Small things --------------------------------------------------------------------------------


def _at(summary: Mapping[str, Any], horizon: int) -> dict[int, list[Mapping[str, Any]]]:
    """m ↦ the worst run of every approach."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for approach in PAPER:
        for run in runs_of(summary, approach, horizon):
            found.setdefault(run["steps"], []).append(run)
    return found


def _adversary(run: Mapping[str, Any]) -> str:
    name = spaced(run["adversary"])
    return name if run["found_by"] == "catalogue" else f"{name} ({run['found_by']})"


def _exponent(told: Sequence[float]) -> str:
    return interval(*told) if len(told) == 3 else signed(told[0])
