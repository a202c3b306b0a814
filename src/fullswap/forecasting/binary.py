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
    T^(1/3) up to logarithms, constants included; with ``loss="log"`` the KL calibration error
    Σ_p n_p·KL(ȳ_p ‖ p) [LSS25]. With ``step``, ``certificates()[1]`` is about the swap regret
    among multiples of the step [FKO25, Thm 21]. ``feedback`` says under which conditions.

    Parameters
    ----------
    horizon : int or None
        Number of events; None if unknown (the grid is then refined as events go by).
    step : float, str or None
        Issue only multiples of it: 0.05, 1/20 or "5%". The step must divide 1.
    rule : str
        "crossing" (fast), or "stationary", the paper's own.
    feedback : str
        "realised": the guarantee is for the draws that were issued, on average over our own
        draws, against outcomes that do not depend on the draw of their own event.
        "distribution": for the distributions themselves, always.
    seed : int, Generator or None
        Of the draws; None: fresh entropy of the system, so that nobody can foresee them.
    loss : str
        "squared" or "log".
    max_weight : float
        Largest weight of an event in ``update``.
    pick_steps : bool
        False: every multiple of the step may be issued. True: whatever is guaranteed least among
        them, that is some of the multiples, or all with the paper's schedule for given steps, where
        the guarantee is for the regret among multiples [FKO25, Thm 21].
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

    _kinds = ("line", "chain", "groups")
    _settings = ("horizon", "step", "rule", "feedback", "loss", "max_weight")

    def __init__(
        self,
        horizon: int | None = None,
        step: float | str | None = None,
        rule: str = "crossing",
        feedback: str = "realised",
        seed: Any = None,
        *,
        loss: str = "squared",
        max_weight: float = 1.0,
        pick_steps: bool = False,
        groups: Any = None,
    ) -> None:
        checks.one_of("rule", rule, ("crossing", "stationary"))
        checks.one_of("feedback", feedback, FEEDBACK)
        checks.one_of("loss", loss, ("squared", "log"))
        if loss == "log" and (step is not None or rule != "crossing"):
            raise ValueError("loss='log' has a grid of its own: step must be None, rule 'crossing'")
        steps = None if step is None else steps_of(step)
        picks = bool(checks.flag("pick_steps", pick_steps))
        if picks and steps is None:
            checks.refuse("step", "be given where pick_steps is True", step)
        names = GroupNames.of(groups)
        events, most = checks.horizon(horizon), checks.number("max_weight", max_weight, above=0)
        if names is None:
            spec = line_spec(events, steps, rule, loss, feedback, most, picks)
        else:
            for name, value in (("rule", rule), ("loss", loss), ("pick_steps", picks)):
                plain = {"rule": "crossing", "loss": "squared", "pick_steps": False}[name]
                if value != plain:
                    checks.refuse(name, f"be {plain!r} where groups are given", value)
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
    def rule(self) -> str:
        """How it is played: "crossing" or "stationary"."""
        return "stationary" if self.spec.kind == "chain" else "crossing"

    @property
    def feedback(self) -> str:
        """Who learns: "realised" or "distribution"."""
        return self.spec.feedback

    @property
    def loss(self) -> str:
        """What is bounded: the "squared" or the "log" loss."""
        return self.spec.loss

    _outcome = staticmethod(binary_outcome)

    def _outcomes(self, outcomes: Any, absent: bool = False) -> Any:
        return binary_outcomes(outcomes, absent)
