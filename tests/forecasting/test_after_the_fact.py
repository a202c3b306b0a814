"""Bounds after the fact need no label in time: in every run, or on average over our own draws."""

import math

import numpy as np
import pytest

from fullswap import Forecaster, MulticlassForecaster, Recalibrator
from fullswap.kernels.columns import OVERLAP

MAKERS = {
    "squared": lambda **k: Forecaster(300, **k),
    "steps": lambda **k: Forecaster(300, step=0.05, **k),
    "classes": lambda **k: MulticlassForecaster(3, 300, **k),
    "model": lambda **k: Recalibrator(0.1, **k),
    "models": lambda **k: Recalibrator(0.2, models=2, **k),
    "model of classes": lambda **k: Recalibrator(classes=3, **k),
}
PATIENCE = {"in time": 0, "a week": 7, "a season": 150}


def play(forecaster, patience, stream):
    """Outcomes that turn against the mean, or drift; each comes after so many others."""
    rng, waiting = np.random.default_rng(stream), []
    classes, models = forecaster.spec.classes, forecaster.spec.models
    for t in range(300):
        said = rng.dirichlet(np.ones(classes), max(models, 1))
        given = said[:, 0] if classes == 2 else said
        context = () if not models else (given if models > 1 else given[0],)
        forecast = forecaster.predict(*context)
        contrary = int(forecast.mean < 0.5) if classes == 2 else int(np.argmin(forecast.mean))
        drifting = int(rng.random() < 0.5 + 0.4 * math.sin(t / 30))
        waiting.append((forecast, contrary if stream % 2 else drifting))
        if len(waiting) > patience:
            ticket, outcome = waiting.pop(0)
            forecaster.update(outcome, ticket)
    for ticket, outcome in waiting:
        forecaster.update(outcome, ticket)
    assert (forecaster._stream.row[OVERLAP] > 0) == (patience > 0)
    return forecaster.certificates()


@pytest.mark.parametrize("patience", PATIENCE.values(), ids=PATIENCE)
@pytest.mark.parametrize("name", ["squared", "steps"])
def test_every_run_of_distributions(name, patience):
    for stream in range(4):
        for certificate in play(MAKERS[name](feedback="distribution", seed=1), patience, stream):
            assert certificate.measured <= certificate.after_the_fact + 1e-9, str(certificate)


@pytest.mark.parametrize("patience", PATIENCE.values(), ids=PATIENCE)
@pytest.mark.parametrize("name", MAKERS)
def test_issued_forecasts_on_average_over_their_draws(name, patience):
    excess = []
    for seed in range(30):
        for k, stream in enumerate((0, 1)):
            first = play(MAKERS[name](seed=seed), patience, stream)[0]
            excess.append((k, first.measured - first.after_the_fact))
    for kind in (0, 1):
        values = np.array([value for k, value in excess if k == kind])
        # three standard errors: a bound on the mean, seen through 30 runs
        assert values.mean() <= 3 * values.std() / math.sqrt(len(values)) + 1e-9
