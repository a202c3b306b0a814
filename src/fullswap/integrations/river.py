"""A river classifier that is recalibrated event by event."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from math import isfinite
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name
from fullswap.base.protocols import Points
from fullswap.base.records import Record
from fullswap.certificates import Certificate, GroupTable
from fullswap.forecasting.inputs import scale_of
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.integrations.footnotes import about_means
from fullswap.integrations.group_input import check_room, names_of, table_about_means

try:
    from river import base
except ImportError as error:
    raise ImportError(
        "fullswap.integrations.river needs river: pip install 'fullswap[river]'"
    ) from error

FEWEST = 3
"""Classes that a recalibrator begins with; with two labels the third place is empty."""


class Forecasted(dict[Any, float]):
    """Mean of a forecast, label by label; ``issued`` is what was drawn, ``event`` its name."""

    def __init__(self, mean: dict[Any, float], issued: dict[Any, float], event: Any) -> None:
        super().__init__(mean)
        self.issued, self.event = issued, event


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
    step, horizon, max_weight, seed
        As in `fullswap.Recalibrator`; the step is for labels False and True. The weight
        of an event is the keyword ``w`` of `learn_one`.
    groups : feature, list of features, callable or None
        Groups of events, in each of which forecasts of False and True are to be calibrated: an
        event belongs to ``"feature=value"`` for each of these features that it has. The first event
        must have all of them, so that no misspelt name goes unnoticed; a later one without the
        feature belongs to no group of it, and nothing says so. Or a function of x that gives a
        name, a list of names or None. The classifier gets x as it is; without a classifier these
        features are no probabilities.

    Notes
    -----
    With labels False and True there is one recalibrator, with its guarantee. Other labels need
    not be known beforehand: a recalibrator that is calibrated class by class begins with the second
    of them, and each later one is one more class of it. The guarantee is for all labels together.

    Labels may come late: call `learn_one` when they do. The model is scored then, unless it was
    scored by `forecast_one` with the name of an event: then calibration learns from what was
    forecast at the time. Several forecasts of one event wait for one label, and count as one. In
    river's own loops the name goes with each row: ``(x, y, {"event": name})`` in a dataset for
    ``evaluate.progressive_val_score(…, delay=…)`` does all this.

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
        step: float | str | None = None,
        horizon: int | None = None,
        max_weight: float = 1.0,
        seed: int | None = None,
        groups: Any = None,
    ) -> None:
        self.classifier = classifier
        self.step = step
        self.horizon = horizon
        self.max_weight = max_weight
        self.seed = seed
        self.groups = _checked_groups(groups)
        # Whether the labels are False and True; None until the first label tells.
        self._binary = None if self._multiclass and groups is None else True
        self._places: dict[Any, int] = {}
        # Events that were scored before there was anything to calibrate.
        self._unheard: set[Any] = set()
        self._named = 0
        self._calibrator: Recalibrator = Recalibrator(
            step, horizon=horizon, max_weight=max_weight, seed=seed,
            groups=None if groups is None else "open",
        )  # fmt: skip

    @property
    def calibrator(self) -> Recalibrator:
        """What has learnt from the scores; its classes, if many, are in the order of `labels`."""
        return self._calibrator

    @property
    def labels(self) -> list[Any]:
        """The labels that were met: of False and True, True alone."""
        return [True] if self._binary else list(self._places)

    def learn_one(self, x: dict[Any, Any], y: Any, *, event: Any = None, **kwargs: Any) -> None:
        """Score x, let the classifier learn, then recalibrate with the score and the label.

        Parameters
        ----------
        x
            Features.
        y
            Label.
        event
            Name of an event that `forecast_one` has forecast: x is not scored again, and all
            forecasts of the event that wait are learnt. If none waits, because an earlier row of
            the event had its label, the classifier alone learns.
        kwargs
            Passed on to the classifier; ``w`` is also the weight in calibration.
        """
        binary = self._checked_label(y)
        weight = kwargs.get("w", 1.0)
        scale_of(weight, self.max_weight, "w")
        name = None if event is None else event_name(event)
        scores = self._scores(x) if event is None else {}
        groups = self._groups_of(x) if event is None else None
        self._wrapped_model.learn_one(x, y, **kwargs)
        self._meet_all(binary, (*scores, y))
        calibrator = self._calibrator
        if name is not None:
            if calibrator.is_pending(name):
                calibrator.resolve(name, self._outcome(y), weight)
            self._unheard.discard(name)
        elif calibrator.classes > 2:
            p, classes = self._vector(scores), [self._places[y]]
            calibrator.run(p, classes, sample_weight=[weight], record=False, progress=False)
        elif binary:
            forecast = calibrator.predict(_score_of_true(scores), groups=groups)
            calibrator.update(float(y), forecast, weight)

    def forecast_one(self, x: dict[Any, Any], event: Any = None, **kwargs: Any) -> Forecasted:
        """Score x and issue a forecast that waits for its label: mean, label by label.

        ``issued`` of what comes back is what to publish where the guarantee is for issued
        forecasts, and ``event`` names it: one is made up if none was given. What is forecast again
        before its label comes has the same event; `resolve`, or `learn_one` with this event,
        teaches all its forecasts at once.

        Examples
        --------
        >>> model = Calibrated(seed=1)
        >>> for p in (0.55, 0.6, 0.8):
        ...     forecast = model.forecast_one({True: p}, event="game 17")
        >>> forecast.issued[True], round(forecast[True], 4)
        (0.8, 0.8)
        >>> model.resolve("game 17", True)
        """
        name = ("forecast", self._named) if event is None else event_name(event)
        scores, groups = self._scores(x, **kwargs), self._groups_of(x)
        self._named += 1
        if self._binary is None and scores:
            self._binary = all(isinstance(label, bool | np.bool_) for label in scores)
        if not self._binary:
            for label in scores:
                self._meet(label)
        calibrator = self._calibrator
        if calibrator.classes > 2:
            vector = calibrator.predict(self._vector(scores)[0], event=name)
            mean, issued = (
                _normalised(dict(zip(self._places, values.tolist(), strict=False)))
                for values in (vector.mean, vector.issued)
            )
            return Forecasted(mean, issued, name)
        if self._binary:
            forecast = calibrator.predict(_score_of_true(scores), groups=groups, event=name)
            return Forecasted(_both(forecast.mean), _both(forecast.issued), name)
        self._unheard.add(name)
        return Forecasted(scores, scores, name)

    def resolve(self, event: Any, y: Any, weight: float = 1.0) -> None:
        """Recalibrate with the label of an event: all its forecasts at once, which count as one.

        The classifier learns nothing: `learn_one` with the event does both, and the classifier's
        own ``learn_one`` may be called for as many rows of the event as are to teach it.
        """
        binary, name = self._checked_label(y), event_name(event)
        scale_of(weight, self.max_weight)
        waits = self._calibrator.is_pending(name)
        if not waits and name not in self._unheard:
            raise ValueError(
                f"event {name!r} has no pending forecast: it was resolved, "
                "or nothing was forecast with this name"
            )
        self._meet_all(binary, (y,))
        if waits:
            self._calibrator.resolve(name, self._outcome(y), weight)
        self._unheard.discard(name)

    def predict_proba_one(
        self, x: dict[Any, Any], *, event: Any = None, **kwargs: Any
    ) -> dict[Any, float]:
        """Mean of the recalibrated distribution, label by label; the state does not change.

        With ``event`` it is `forecast_one`, which keeps the forecast.
        """
        if event is not None:
            return self.forecast_one(x, event, **kwargs)
        return self._recalibrated(x, self._scores(x, **kwargs), lambda forecasts: forecasts.mean)

    def sample_one(self, x: dict[Any, Any], rng: np.random.Generator) -> dict[Any, float]:
        """A draw from the recalibrated distribution, label by label; the state does not change.

        This is what to publish where the guarantee is for issued forecasts; its law is that of
        the draws which `learn_one` makes for itself. Of other labels than False and True nothing is
        drawn.
        """
        return self._recalibrated(x, self._scores(x), lambda forecasts: forecasts.draw(rng))

    def certificate(self, group: Any = None) -> Certificate:
        """What was measured over the events learnt, beside what is guaranteed.

        Of more labels than two it is that of all together. ``group``: over the events of this group
        alone, by its name; see `by_group`.
        """
        return about_means(self._calibrator.certificate(group=group), "predict_proba_one")

    def certificates(self) -> tuple[Certificate, ...]:
        """All that is guaranteed: the calibration error first.

        Of labels other than False and True that of all together, then that of the declared label,
        mostly the likeliest one. As long as two such labels were met a place is kept for a third;
        `predict_proba_one` shares out what it was given, mostly well below a per cent, while
        certificates are of the forecasts as they were.
        """
        own = self._calibrator.certificates()
        return tuple(about_means(certificate, "predict_proba_one") for certificate in own)

    def by_group(self) -> GroupTable:
        """Certificates of everybody and of all groups, those least explained by chance first."""
        return table_about_means(self._calibrator.by_group(), "predict_proba_one")

    def _checked_label(self, y: Any) -> bool:
        """Whether the labels are False and True."""
        binary = isinstance(y, bool | np.bool_) if self._binary is None else self._binary
        if binary and y not in (False, True):
            whose = "this classifier" if self.groups is None else "a classifier with groups"
            checks.refuse("y", f"be False or True for {whose}", y)
        return binary

    def _outcome(self, y: Any) -> Any:
        return self._places[y] if self._calibrator.classes > 2 else float(y)

    def _meet_all(self, binary: bool, labels: tuple[Any, ...]) -> None:
        self._binary = binary
        if not binary:
            for label in labels:
                self._meet(label)

    def _meet(self, label: Any) -> None:
        """A label that may be new: with the second there is something to calibrate."""
        if label in self._places:
            return
        if self._calibrator.classes > 2 and len(self._places) >= self._calibrator.classes:
            self._calibrator.add_class()
        elif len(self._places) == 1:
            self._calibrator = Recalibrator(
                classes=FEWEST, horizon=self.horizon, max_weight=self.max_weight, seed=self.seed
            )
        self._places[label] = len(self._places)

    def _vector(self, scores: dict[Any, float]) -> Points:
        """Scores of the labels met so far, as one row that adds up to 1."""
        met = _normalised({label: scores.get(label, 0.0) for label in self._places})
        spare = [0.0] * (self._calibrator.classes - len(met))
        return np.array([[*met.values(), *spare]])

    def _recalibrated(
        self, x: dict[Any, Any], scores: dict[Any, float], value: Callable[[Record], Any]
    ) -> dict[Any, float]:
        calibrator = self._calibrator
        if self._binary:
            groups = self._groups_of(x)
            joined = None if groups is None else [groups]
            forecasts = calibrator.peek_many([_score_of_true(scores)], groups=joined)
            return _both(float(value(forecasts)[0]))
        # labels that calibration has not met keep their scores, the others share the rest
        new = {label: p for label, p in scores.items() if label not in self._places}
        rest, parts = max(1 - sum(new.values()), 0.0), np.ones(len(self._places))
        if calibrator.classes > 2:
            parts = value(calibrator.peek_many(self._vector(scores)))[0][: len(parts)]
            parts = parts / parts.sum()
        return {**dict(zip(self._places, (rest * parts).tolist(), strict=True)), **new}

    def _groups_of(self, x: dict[Any, Any]) -> list[Any] | None:
        """Names of the groups of an event, as many as there is room for; None without groups."""
        where = self.groups
        if where is None:
            return None
        own: Any
        if callable(where):
            own = [where(x)]
        else:
            features = _listed(where)
            lacking = [name for name in features if name not in x]
            if lacking and not self._calibrator.rounds and not self._calibrator.pending:
                rule = f"name features that the first event has, of {list(x)}"
                checks.refuse("groups", rule, lacking[0])
            own = {str(name): [x[name]] for name in features if name in x} or None
        (names,) = joined = names_of(own, 1)
        check_room(self._calibrator.groups, joined)
        return names

    def _scores(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """What the classifier says, adding up to 1; empty if it says nothing yet."""
        if self.classifier is None and self.groups is not None and not callable(self.groups):
            gone = set(_listed(self.groups))
            x = {name: value for name, value in x.items() if name not in gone}
        try:
            raw = self._wrapped_model.predict_proba_one(x, **kwargs)
        except NotImplementedError:  # the river way to say that there are labels alone
            label = self._wrapped_model.predict_one(x, **kwargs)
            raw = {} if label is None else {label: 1.0}
        # Some models divide by zero before they have seen enough.
        return _normalised(
            {label: float(p) if p > 0 and isfinite(p) else 0.0 for label, p in raw.items()}
        )

    @property
    def _wrapped_model(self) -> Any:
        return _Probabilities() if self.classifier is None else self.classifier

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, naive_bayes, preprocessing

        # learning draws: without a seed no two runs are the same, as some checks want them
        scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        yield {"classifier": scaled, "seed": 1}
        yield {"classifier": naive_bayes.GaussianNB(), "seed": 1}


class _Probabilities(base.Classifier):
    """Stands where there is no classifier: its features are the probabilities."""

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: dict[Any, Any], y: Any, **kwargs: Any) -> None:
        pass

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        for label, p in x.items():
            checks.number(f"x[{label!r}]", p, least=0, most=1)
        if len(x) == 1 and True in x:
            return {False: 1 - x[True], True: x[True]}
        if not x or abs(sum(x.values()) - 1) > checks.ROW_TOLERANCE:
            rule = "hold probabilities of all labels, adding up to 1, or that of True alone"
            checks.refuse("x", rule, x)
        return x


def _checked_groups(groups: Any) -> Any:
    """The same: whether features exist is known with the first event only."""
    if groups is None or callable(groups):
        return groups
    features = _listed(groups)
    if not features or any(
        not isinstance(name, Hashable) or isinstance(name, bool | float) or name is None
        for name in features
    ):
        checks.refuse("groups", "be a feature, a list of features, a function of x or None", groups)
    return groups


def _listed(where: Any) -> list[Any]:
    return list(where) if isinstance(where, list | tuple | set | frozenset) else [where]


def _score_of_true(scores: dict[Any, float]) -> float:
    return scores.get(True, 0.0) if scores else 0.5


def _both(p: float) -> dict[Any, float]:
    """Probabilities of False and True; a mean may have been rounded up."""
    p = min(p, 1.0)
    return {False: 1 - p, True: p}


def _normalised(values: dict[Any, float]) -> dict[Any, float]:
    """Divided by their sum; all the same if that is 0."""
    total = sum(values.values())
    if total > 0:
        return {label: value / total for label, value in values.items()}
    return {label: 1 / len(values) for label in values}
