"""The paper's figure: regret against the step of the forecasts, and an erratum beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from fullswap.report.style import figures
from studies.approaches import PAPER, PROVED
from studies.fits import SMALLEST
from studies.report.figure_pictures import LOOKS, draw_midpoint, draw_steps, runs_of, step_of
from studies.report.text import between, bold, interval, listed, signed, spaced, table

Run = Mapping[str, Any]


def values(summary: Mapping[str, Any]) -> dict[str, str]:
    """What was measured of the figure."""
    longest = summary["horizons"][-1]
    rounded = runs_of(summary, "rounding", longest)
    choice = max(
        runs_of(summary, "discretised", longest),
        key=lambda run: run["guaranteed"] / run["own_choice"],
    )
    return {
        "budget": str(summary["budget"]),
        "found_at": f"{summary['found_at']:,}",
        "without_catalogue": listed((f"{t:,}" for t in summary["without_catalogue"]), " and "),
        "runs": f"{summary['runs']:,}",
        "real_outcomes": f"{summary['real_outcomes']:,}",
        "exceeded": str(summary["exceeded"]),
        "first": f"{summary['horizons'][0]:,}",
        "longest": f"{longest:,}",
        "steps": _steps(summary, longest),
        **{f"share_{name}": _share(runs_of(summary, name, longest)) for name in PAPER},
        "growth": _growth(summary["growth"]),
        "coarsest": step_of(rounded[0]["steps"]),
        "by_shift": figures(rounded[0]["by_shift"]),
        "by_square": figures(rounded[0]["by_square"]),
        "shift_smaller": listed(
            (step_of(run["steps"]) for run in rounded if run["by_shift"] < run["by_square"]), ", "
        ),
        "choice_step": step_of(choice["steps"]),
        "own_choice": figures(choice["own_choice"]),
        "choice_guaranteed": figures(choice["guaranteed"]),
        **_midpoint_ranges([line for line in summary["midpoint"] if line["approach"] in PAPER]),
        "fitted_from": f"{summary['midpoint'][0]['fitted_from']:,}",
        "midpoint": _midpoint(summary["midpoint"]),
    }


def pictures(summary: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """Regret against the step, and the coins."""
    return {
        "figure-steps": partial(draw_steps, summary),
        "figure-midpoint": partial(draw_midpoint, summary["midpoint"]),
    }


def _share(runs: Sequence[Run]) -> str:
    shares = sorted(run["measured"] / run["guaranteed"] for run in runs)
    return between(f"{100 * share:.2g} %" for share in shares)


def _midpoint_ranges(lines: Sequence[Run]) -> dict[str, str]:
    """Over the approaches that say multiples."""
    ends = [(line["calibration"][-1], line["regret"][-1]) for line in lines]
    shares = [
        error * line["steps"] ** 2 / line["horizons"][-1]
        for (error, _), line in zip(ends, lines, strict=True)
    ]
    times = [error / max(regret, SMALLEST) for error, regret in ends]
    growth = {
        key: sorted(line[f"{key}_exponent"][0] for line in lines)
        for key in ("calibration", "regret")
    }
    return {
        "error_of_step": between(f"{share:.2g}" for share in sorted(shares)),
        "error_exponents": between(map(signed, growth["calibration"])),
        "error_of_regret": between(map(figures, sorted(times))),
        "regret_exponents": between(map(signed, growth["regret"])),
    }


def _steps(summary: Mapping[str, Any], horizon: int) -> str:
    """Worst runs by step and approach; the lowest of the approaches in bold."""
    here = [run for run in summary["worst"] if run["horizon"] == horizon]
    rows = []
    for steps in sorted({run["steps"] for run in here}):
        runs = [run for run in here if run["steps"] == steps]
        least = {key: min(run[key] for run in runs) for key in ("measured", "guaranteed")}
        for run in runs:
            cells = [bold(figures(run[key]), run[key] == low) for key, low in least.items()]
            ratio, who = run["measured"] / run["guaranteed"], spaced(run["adversary"])
            if run["found_by"] != "catalogue":
                who += f" ({run['found_by']})"
            rows.append((step_of(steps), LOOKS[run["approach"]][2], *cells, f"{ratio:.3f}", who))
    columns = ("ε", "approach", "measured", "guaranteed at most", "ratio", "worst adversary")
    return table(columns, rows)


def _growth(lines: Sequence[Run]) -> str:
    derived = [approach for approach in PAPER if PROVED[approach] is not PAPER[approach]]
    columns = ["a"]
    for approach in PAPER:
        name = LOOKS[approach][2]
        columns += [f"{name}, measured", f"{name}, paper"]
        columns += [f"{name}, derived here"] * (approach in derived)
    rows = []
    for a in sorted({line["exponent"] for line in lines}):
        cells = [f"{a:.3g}"]
        for line in (line for line in lines if line["exponent"] == a):
            cells += [interval(line["measured"]), f"{line['paper']:.2f}"]
            cells += [f"{line['proved']:.2f}"] * (line["approach"] in derived)
        rows.append(cells)
    return table(columns, rows)


def _midpoint(lines: Sequence[Run]) -> str:
    return table(
        ("ε", "approach", "T", "error as the paper defines it", "its exponent", "swap regret",
         "exponent of the swap regret"),
        [
            (step_of(line["steps"]), LOOKS[line["approach"]][2], f"{line['horizons'][-1]:,}",
             figures(line["calibration"][-1]), interval(line["calibration_exponent"]),
             figures(line["regret"][-1]), interval(line["regret_exponent"]))
            for line in lines
        ],
    )  # fmt: skip
