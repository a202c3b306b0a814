"""The scikit-learn adapter: scikit-learn's own checks, bad input, and the optional dependency."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fullswap.integrations.sklearn import CalibratedOnlineClassifier
from integration_cases import correlated, online, probabilities, state

STREAM = "the rows are a stream: a weight of 2 is one event that counts more, not two events"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": STREAM,
    "check_sample_weight_equivalence_on_sparse_data": STREAM,
}


def expected_failures(model):
    return EXPECTED


# The checks fit on a handful of rows, where a fold may lack a class or a solver stop early.
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        CalibratedOnlineClassifier(LogisticRegression(), cv=3),
        CalibratedOnlineClassifier(GaussianNB(), cv=3),
        CalibratedOnlineClassifier(LinearSVC(), cv=3),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": [0.5, 1.5]}, r"X must lie in \[0, 1\], got 1.5 at position 1"),
        ({"X": [0.5, np.nan]}, r"X must lie in \[0, 1\], got nan at position 1"),
        ({"X": [[0.5, 0.4], [0.5, 0.5]]}, r"X must be .* sum to 1, got \[0.5, 0.4\] at position 0"),
        ({"X": np.full((2, 3), 1 / 3)}, r"shape \(n,\), \(n, 1\) or \(n, 2\), got \(2, 3\)"),
        ({"X": [0.5]}, "inconsistent numbers of samples"),
        ({"y": ["no", "maybe"]}, "y must hold classes among .*got maybe at position 1"),
        ({"y": None}, "y is None"),
        ({"classes": ["no", "perhaps"]}, "classes must stay as in the first call"),
        ({"sample_weight": [1, -1]}, "sample_weight must be at least 0, got -1.0 at position 1"),
        ({"sample_weight": [0, 0]}, r"sample_weight must not be zero in all rows, got \[0, 0\]"),
        ({"sample_weight": [1, 3]}, "sample_weight must be at most max_weight = 1.0, got 3"),
        ({"sample_weight": [1]}, r"sample_weight must have shape \(2,\), got \(1,\)"),
        ({"sample_weight": [1, np.inf]}, "sample_weight must be finite, got inf at position 1"),
    ],
)
def test_bad_batches_change_nothing(change, words):
    model = online().fit(*([0.2, 0.8] * 5, ["no", "yes"] * 5))
    before = state(model)
    with pytest.raises(ValueError, match=words):
        model.partial_fit(**{"X": [0.5, 0.5], "y": ["no", "yes"], **change})
    assert state(model) == before


def test_a_refused_weight_does_not_reach_the_estimator():
    X, y = correlated(40)
    model = online(GaussianNB()).fit(X, y)
    counts = model.estimator_.class_count_.copy()
    with pytest.raises(ValueError, match="max_weight"):
        model.partial_fit(X, y, sample_weight=np.full(40, 2.0))
    np.testing.assert_array_equal(model.estimator_.class_count_, counts)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"estimator": StandardScaler()}, "estimator must have predict_proba or decision_function"),
        ({"step": 0}, "step"),
        ({"random_state": "magic"}, "seed"),
        ({"max_weight": -1.0}, "max_weight"),
    ],
)
def test_bad_settings_are_refused_by_fit(settings, words):
    model = online(**settings)
    with pytest.raises(ValueError, match=words):
        model.fit(*probabilities(20))
    assert not hasattr(model, "calibrator_")


def test_classes_must_be_known():
    with pytest.raises(ValueError, match="classes must be passed in the first call"):
        online().partial_fit([0.5], [1])
    with pytest.raises(ValueError, match="at least two classes"):
        online().partial_fit([0.5], [1], classes=[1])
    with pytest.raises(ValueError, match="at least two classes"):
        online().fit([0.5, 0.4], [1, 1])


# --- an optional dependency -------------------------------------------------------------------


def test_without_scikit_learn_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    spec = importlib.util.find_spec("fullswap.integrations.sklearn")
    with pytest.raises(ImportError, match=r"pip install 'fullswap\[sklearn\]'"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_package_does_not_import_scikit_learn():
    code = "import sys, fullswap, fullswap.integrations; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
