"""A river classifier that is recalibrated event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from fullswap.certificates import Certificate
from fullswap.forecasting.recalibrator import Recalibrator

try:
    from river import base
except ImportError as error:
    raise ImportError(
        "fullswap.integrations.river needs river: pip install 'fullswap[river]'"
    ) from error


class Calibrated(base.Wrapper, base.Classifier):
    """Classifier whose probabilities stay calibrated while labels keep arriving.

    `learn_one` scores the wrapped classifier before it learns, so that calibration learns from
    what would have been forecast. `predict_proba_one` is the mean of the recalibrated
    distribution: deterministic, without effect on the state, and of use before any learning.

    Parameters
    ----------
    classifier : base.Classifier or None
        The model to recalibrate; one without probabilities counts as certain of its label.
        None: x itself holds probabilities, label by label, as `predict_proba_one` gives them.
    bins, step, horizon, method, feedback, max_weight, seed
        As in `fullswap.Recalibrator`. The weight of an event is the keyword ``w`` of `learn_one`.

    Notes
    -----
    With labels False and True there is one recalibrator, with its guarantee. Other labels need
    not be known beforehand: each gets its own recalibrator when it first appears, and the results
    are divided by their sum; each then has a guarantee, the divided vector has none.

    Labels may come late: call `learn_one` when they do. The model is scored then.

    Examples
    --------
    >>> model = Calibrated()
    >>> for t in range(1000):
    ...     model.learn_one({True: 0.9}, t % 2 == 0)  # says 0.9, truth is one half
    >>> model.predict_proba_one({True: 0.9})[True] < 0.6
    True
    """

    def __init__(
        self,
        classifier: base.Classifier | None = None,
        *,
        bins: int | None = 20,
        step: float | None = None,
        horizon: int | None = None,
        method: str = "experts",
        feedback: str = "realised",
        max_weight: float = 1.0,
        seed: int | None = 0,
    ) -> None:
        self.classifier = classifier
        self.bins = bins
        self.step = step
        self.horizon = horizon
        self.method = method
        self.feedback = feedback
        self.max_weight = max_weight
        self.seed = seed
        # Whether the labels are False and True; None until the first label tells.
        self._binary = None if self._multiclass else True
        self._calibrators: dict[Any, Recalibrator] = {}
        first = self._new_calibrator(0)  # also where there is no label yet: it checks the settings
        if self._binary:
            self._calibrators[True] = first

    @property
    def calibrators(self) -> dict[Any, Recalibrator]:
        """The recalibrators by label; of labels False and True, that of True alone."""
        return dict(self._calibrators)

    def learn_one(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        """Score x, let the classifier learn, then recalibrate with the score and the label.

        Parameters
        ----------
        x
            Features.
        y
            Label.
        kwargs
            Passed on to the classifier; ``w`` is also the weight in calibration.
        """
        binary = isinstance(y, bool | np.bool_) if self._binary is None else self._binary
        if binary and y not in (False, True):
            raise ValueError(f"y must be False or True for this classifier, got {y!r}")
        weight = self._checked_weight(kwargs.get("w", 1.0))
        scores = self._scores(x)
        self._wrapped_model.learn_one(x, y, **kwargs)
        self._binary = binary
        labels = [True] if binary else dict.fromkeys([*self._calibrators, *scores, y])
        for label in labels:
            if label not in self._calibrators:
                self._calibrators[label] = self._new_calibrator(len(self._calibrators))
            calibrator = self._calibrators[label]
            forecast = calibrator.predict(self._score_of(label, scores))
            calibrator.update(float(y == label), forecast, weight)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Mean of the recalibrated distribution, label by label; the state does not change."""
        return self._recalibrated(x, lambda calibrator, p: float(calibrator.peek(p).mean), kwargs)

    def sample_one(self, x: dict[Any, Any], rng: np.random.Generator) -> dict[Any, float]:
        """A draw from the recalibrated distribution, label by label; the state does not change.

        This is what to publish where the guarantee is for issued forecasts; its law is that of
        the draws which `learn_one` makes for itself.
        """

        def draw(calibrator: Recalibrator, p: float) -> float:
            mixture = calibrator.peek(p)
            return float(rng.choice(mixture.points, p=mixture.weights / mixture.weights.sum()))

        return self._recalibrated(x, draw, {})

    def certificate(self, label: Any = True) -> Certificate:
        """What was measured for a label over the events learnt, beside what is guaranteed."""
        if label not in self._calibrators:
            raise ValueError(f"label must be one of {list(self._calibrators)}, got {label!r}")
        return self._calibrators[label].certificate()

    def _recalibrated(
        self, x: dict[Any, Any], value: Callable[[Recalibrator, float], float], kwargs: Any
    ) -> dict[Any, float]:
        scores = self._scores(x, **kwargs)
        if self._binary:
            p = value(self._calibrators[True], self._score_of(True, scores))
            p = min(p, 1.0)  # a mean may be rounded up
            return {False: 1 - p, True: p}
        probabilities = {}
        for label in dict.fromkeys([*self._calibrators, *scores]):
            p = self._score_of(label, scores)
            known = self._calibrators.get(label)
            probabilities[label] = p if known is None else value(known, p)
        return _normalised(probabilities)

    def _scores(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """What the classifier says, adding up to 1; empty if it says nothing yet."""
        try:
            raw = self._wrapped_model.predict_proba_one(x, **kwargs)
        except NotImplementedError:  # the river way to say that there are labels alone
            label = self._wrapped_model.predict_one(x, **kwargs)
            raw = {} if label is None else {label: 1.0}
        # Some models divide by zero before they have seen enough.
        return _normalised(
            {label: float(p) if p > 0 and isfinite(p) else 0.0 for label, p in raw.items()}
        )

    def _score_of(self, label: Any, scores: dict[Any, float]) -> float:
        if scores:
            return scores.get(label, 0.0)
        return 1 / max(2, len(self._calibrators))

    def _checked_weight(self, weight: Any) -> float:
        if not _within(weight, self.max_weight):
            raise ValueError(f"w must lie in [0, max_weight = {self.max_weight}], got {weight!r}")
        return float(weight)

    def _new_calibrator(self, number: int) -> Recalibrator:
        seed = self.seed
        if number:
            sequence = np.random.SeedSequence(seed, spawn_key=(number,))
            seed = int(sequence.generate_state(1)[0])
        return Recalibrator(
            bins=self.bins,
            step=self.step,
            horizon=self.horizon,
            method=self.method,
            feedback=self.feedback,
            max_weight=self.max_weight,
            seed=seed,
        )

    @property
    def _wrapped_model(self) -> Any:
        return _Probabilities() if self.classifier is None else self.classifier

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, naive_bayes, preprocessing

        yield {"classifier": preprocessing.StandardScaler() | linear_model.LogisticRegression()}
        yield {"classifier": naive_bayes.GaussianNB()}


class _Probabilities(base.Classifier):
    """Stands where there is no classifier: its features are the probabilities."""

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        pass

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        for label, p in x.items():
            if not _within(p, 1.0):
                raise ValueError(f"x must hold probabilities in [0, 1], got {p!r} for {label!r}")
        if len(x) == 1 and True in x:
            return {False: 1 - x[True], True: x[True]}
        if not x or abs(sum(x.values()) - 1) > 1e-6:
            raise ValueError(
                "x must hold probabilities of all labels, adding up to 1, or that of True alone, "
                f"got {x!r}"
            )
        return x


def _within(value: Any, top: float) -> bool:
    return isinstance(value, Real) and 0 <= float(value) <= top


def _normalised(values: dict[Any, float]) -> dict[Any, float]:
    """Divided by their sum; all the same if that is 0."""
    total = sum(values.values())
    if total > 0:
        return {label: value / total for label, value in values.items()}
    return {label: 1 / len(values) for label in values}
