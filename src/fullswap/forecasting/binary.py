"""The binary forecaster: probabilities of yes that stay calibrated whatever happens."""

from __future__ import annotations

from typing import Any

from fullswap.base import checks
from fullswap.forecasting.expert_specs import groups_spec
from fullswap.forecasting.groups import GroupNames
from fullswap.forecasting.inputs import binary_outcome, binary_outcomes
from fullswap.forecasting.specs import line_spec
from fullswap.forecasting.without_models import WithoutModels
from fullswap.grids.steps import steps_of
from fullswap.online.spec import FEEDBACK


class Forecaster(WithoutModels):
    """Forecast yes-or-no events with small calibration error against any sequence of outcomes.

    Guarantee: ``guarantee`` bounds the l2 calibration error Σ_p n_p·(p − ȳ_p)² over the distinct
    forecasts p, which is a full swap regret [FKO25, Lemma 26], at the rate of [FKO25, Thm 4],
    T^(1/3) up to logarithms, constants included. With ``step``, ``certificates()[1]`` is about the
    swap regret among multiples of the step [FKO25, Thm 21]. ``feedback`` says under which
    conditions.

    Parameters
    ----------
    horizon : int or None
        Number of events; None if unknown (the grid is then refined as events go by).
    step : float, str or None
        Issue only multiples of it: 0.05, 1/20 or "5%". The step must divide 1.
    feedback : str
        "realised": the guarantee is for the draws that were issued, on average over our own
        draws, against outcomes that do not depend on the draw of their own event.
        "distribution": for the distributions themselves, always.
    seed : int, Generator or None
        Of the draws; None: fresh entropy of the system, so that nobody can foresee them.
    max_weight : float
        Largest weight of an event in ``update``.
    groups : sequence of names, "open" or None
        Groups of events, in each of which forecasts are to be calibrated: every event may belong to
        several. ``"open"``: any name becomes a group when it is first met.

    Examples
    --------
    >>> forecaster = Forecaster(horizon=1000, seed=1)
    >>> for outcome in [1, 0, 1, 1] * 250:
    ...     forecast = forecaster.predict()
    ...     forecaster.update(outcome)
    >>> print(forecaster.certificate())
    1,000 forecasts: ... percentage points off in root mean square (chance alone would show ...);
    guaranteed at most ..., whatever happens.
    ...
    """

    _kinds = ("line", "groups")
    _settings = ("horizon", "step", "feedback", "max_weight")

    def __init__(
        self,
        horizon: int | None = None,
        step: float | str | None = None,
        feedback: str = "realised",
        seed: Any = None,
        *,
        max_weight: float = 1.0,
        groups: Any = None,
    ) -> None:
        checks.one_of("feedback", feedback, FEEDBACK)
        steps = None if step is None else steps_of(step)
        names = GroupNames.of(groups)
        events, most = checks.horizon(horizon), checks.number("max_weight", max_weight, above=0)
        if names is None:
            spec = line_spec(events, steps, feedback, most)
        else:
            spec = groups_spec(steps, 0, events, feedback, most, names.room, names.open)
        self._start(spec, seed, groups=names)

    @property
    def step(self) -> float | None:
        """Forecasts are multiples of it, if it was given."""
        if self.spec.groups:
            lattice = self.spec.levels[0]
            return None if lattice.shape == "tapered" else 1 / lattice.cells
        return None if self.spec.steps is None else 1 / self.spec.steps

    @property
    def feedback(self) -> str:
        """Who learns: "realised" or "distribution"."""
        return self.spec.feedback

    _outcome = staticmethod(binary_outcome)

    def _outcomes(self, outcomes: Any, absent: bool = False) -> Any:
        return binary_outcomes(outcomes, absent)
