"""Groups with scikit-learn: metadata, columns, functions; the same as the Recalibrator's."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

import sklearn  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from fullswap import Recalibrator  # noqa: E402
from fullswap.integrations.sklearn import CalibratedOnlineClassifier  # noqa: E402
from integration_cases import online, state  # noqa: E402

REGIONS, BANDS = ("north", "south", None), ("young", "old")


def log(events=600, seed=0):
    """Probabilities that are too high in the north, outcomes, and two columns of groups."""
    rng = np.random.default_rng(seed)
    region, band = rng.integers(0, 3, events), rng.integers(0, 2, events)
    chance = rng.uniform(0.1, 0.7, events)
    p = np.where(region == 0, chance + 0.25, chance)
    y = (rng.random(events) < chance).astype(int)
    return p, y, [REGIONS[k] for k in region], [BANDS[k] for k in band]


def frame(p, region, band, make=pandas.DataFrame):
    return make({"p": p, "region": region, "band": band})


def by_hand(p, y, groups, **settings):
    recalibrator = Recalibrator(groups="open", seed=0, **settings)
    recalibrator.run(p, y, groups=groups)
    return recalibrator


def lists(region, band):
    rows = zip(region, band, strict=True)
    return [[f"region={r}"] * (r is not None) + [f"band={b}"] for r, b in rows]


# --- the same as the Recalibrator -----------------------------------------------------------------


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_columns_metadata_and_functions_are_one(make):
    p, y, region, band = log()
    expected = by_hand(p, y, lists(region, band))
    X = frame(p, region, band, make)
    by_column = online(groups=["region", "band"]).fit(X, y)
    by_metadata = online().fit(p, y, groups={"region": region, "band": band})
    by_name = online().fit(p, y, groups=lists(region, band))
    by_function = online(groups=lambda q: lists(region, band)[: len(q)]).fit(p, y)
    for model in (by_column, by_metadata, by_name, by_function):
        assert state(model) == expected.to_json()
    means = expected.peek_many(p, groups=lists(region, band)).mean
    np.testing.assert_array_equal(by_column.predict_proba(X)[:, 1], means)
    named = by_name.predict_proba(p, groups=lists(region, band))
    np.testing.assert_array_equal(named, by_column.predict_proba(X))
    np.testing.assert_array_equal(by_column.predict(X), (means > 0.5).astype(int))
    plain = expected.peek_many(p).mean  # without groups: everybody's
    np.testing.assert_array_equal(by_name.predict_proba(p)[:, 1], plain)
    assert (plain != means).any()


def test_draws_know_groups():
    p, y, region, band = log()
    model = online(step=0.1).fit(p, y, groups=lists(region, band))
    draws = model.sample(p, 1, groups=lists(region, band))
    means = model.predict_proba(p, groups=lists(region, band))
    assert np.abs(draws - means).max() <= 0.1 + 1e-9


def test_batches_may_bring_new_groups():
    p, y, region, band = log()
    model = online(groups="region")
    X = frame(p, region, band)[["p", "region"]]
    for part in (slice(0, 100), slice(100, 600)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    expected = by_hand(p, y, [[f"region={r}"] if r else [] for r in region])
    assert state(model) == expected.to_json()
    late = X.assign(region="island")
    model.partial_fit(late, y)
    assert model.calibrator_.groups[-1] == "region=island"
    assert model.certificate(group="region=island").rounds == 600
    known = model.calibrator_.groups
    model.predict_proba(X.assign(region="moon"))  # to ask changes nothing
    assert model.calibrator_.groups == known


def test_certificates_of_groups():
    p, y, region, band = log()
    model = online(groups=["region", "band"]).fit(frame(p, region, band), y)
    table = model.by_group()
    expected = model.calibrator_.by_group()
    assert [row.name for row in table] == [row.name for row in expected]
    assert {row.name for row in table} == {"everybody", *model.calibrator_.groups}
    north = model.certificate(group="region=north")
    assert north.rounds == region.count("north")
    assert north.measured == model.calibrator_.certificate(group="region=north").measured
    for certificate in (north, *(row.certificate for row in table)):
        assert "predict_proba" in str(certificate)
    with pytest.raises(ValueError, match="group must be one of"):
        model.certificate(group="region=west")


def test_every_group_is_repaired():
    p, y, region, band = log(6000)
    test = log(6000, seed=1)
    north = np.array([r == "north" for r in test[2]])
    with_groups = online(groups=["region"]).fit(frame(p, region, band)[["p", "region"]], y)
    without = online().fit(p, y)
    shown = with_groups.predict_proba(frame(*test[::2], test[3])[["p", "region"]])[:, 1]
    gap = abs(shown[north].mean() - test[1][north].mean())
    assert gap < 0.05 < abs(without.predict_proba(test[0])[north, 1].mean() - test[1][north].mean())


# --- estimators and their columns -----------------------------------------------------------------


def features(events=400):
    p, y, region, band = log(events)
    noise = np.random.default_rng(2).normal(size=events)
    return pandas.DataFrame({"a": p + 0.1 * noise, "b": noise, "region": region}), y


def test_the_estimator_keeps_the_columns_or_does_not_see_them():
    X, y = features()
    dropped = online(GaussianNB(), groups="region", drop_groups=True).fit(X, y)
    by_metadata = online(GaussianNB()).fit(X[["a", "b"]], y, groups=X[["region"]])
    assert state(dropped) == state(by_metadata)
    assert dropped.estimator_.n_features_in_ == 2 and dropped.n_features_in_ == 3
    assert dropped.feature_names_in_.tolist() == ["a", "b", "region"]
    chosen = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"])), LogisticRegression()
    )
    kept = online(chosen, groups="region").fit(X, y)
    assert kept.feature_names_in_.tolist() == ["a", "b", "region"]
    for model in (dropped, kept):
        assert model.predict_proba(X).shape == (400, 2)
        model.partial_fit(X, y)


def test_arrays_have_columns_by_number():
    p, y, _, band = log()
    X = np.column_stack([p, [BANDS.index(b) for b in band]])
    expected = by_hand(p, y, [[f"1={BANDS.index(b)}"] for b in band])
    assert state(online(groups=1).fit(X, y)) == expected.to_json()
    last = online(groups=[-1]).fit(X, y)
    assert last.calibrator_.rounds == 600 and last.predict_proba(X).shape == (600, 2)
    matrix = sparse.csr_matrix(X)
    model = online(LogisticRegression(), groups=1, drop_groups=True).fit(matrix, y)
    assert model.estimator_.n_features_in_ == 1 and len(model.calibrator_.groups) == 2


def test_a_frozen_model_of_the_same_columns():
    X, y = features()
    frozen = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"])), LogisticRegression()
    ).fit(X, y)
    model = online(FrozenEstimator(frozen), groups=["region"]).fit(X, y)
    expected = by_hand(
        frozen.predict_proba(X)[:, 1],
        y,
        [[f"region={r}"] if isinstance(r, str) else [] for r in X["region"]],
    )
    np.testing.assert_allclose(model.calibrator_._stream.row, expected._stream.row, rtol=1e-9)


def test_rows_without_scores_are_left_out_with_their_groups():
    X, y = features()
    model = online(GaussianNB(), cv=TimeSeriesSplit(3), groups="region", drop_groups=True).fit(X, y)
    scored = X["region"].iloc[100:]
    for name in ("north", "south"):
        assert model.certificate(group=f"region={name}").rounds == (scored == name).sum()


def test_copies_keep_groups():
    X, y = features()
    model = online(GaussianNB(), groups="region", drop_groups=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert state(again.partial_fit(X, y)) == state(model.partial_fit(X, y))
    assert clone(model).get_params()["groups"] == "region"


# --- scikit-learn around it -----------------------------------------------------------------------


def test_searches_and_scores_take_columns():
    X, y = features()
    model = online(GaussianNB(), groups="region", drop_groups=True, cv=3)
    search = GridSearchCV(model, {"step": [0.1, None]}, scoring="neg_brier_score", cv=2).fit(X, y)
    assert np.isfinite(search.best_score_)


def test_metadata_is_routed():
    p, y, region, band = log()
    groups = np.array([f"{r} {b}" for r, b in zip(region, band, strict=True)])
    with sklearn.config_context(enable_metadata_routing=True):
        model = online(LogisticRegression()).set_fit_request(groups="segment")
        patients = np.arange(600) // 6
        found = cross_validate(
            model, p[:, None], y, cv=GroupKFold(2), return_estimator=True, return_indices=True,
            params={"segment": groups, "groups": patients},
        )  # fmt: skip
        for fitted, train in zip(found["estimator"], found["indices"]["train"], strict=True):
            assert set(fitted.calibrator_.groups) == set(groups[train])
            assert fitted.calibrator_.rounds == len(train)
        piped = make_pipeline(
            StandardScaler(),
            online(LogisticRegression())
            .set_fit_request(groups=True)
            .set_predict_proba_request(groups=True),
        ).fit(p[:, None], y, groups=groups)
        shown = piped.predict_proba(p[:, None], groups=groups)
        assert (shown != piped.predict_proba(p[:, None])).any()


def test_groups_never_split():
    p, y, region, band = log()
    X = p[:, None]
    plain = online(LogisticRegression(), cv=4).fit(X, y)
    grouped = online(LogisticRegression(), cv=4).fit(X, y, groups=lists(region, band))
    own = [
        next(c for c in model.calibrator_.certificates() if c.against == "the model")
        for model in (plain, grouped)
    ]
    # the scores are the same: so is the score of the model, to which both are compared
    assert own[0].brier - own[0].measured == pytest.approx(own[1].brier - own[1].measured)
    with pytest.raises(ValueError, match="cv must need no groups where no event is given"):
        online(LogisticRegression(), cv=GroupKFold(3)).fit(X, y, groups=lists(region, band))
    together = online(LogisticRegression(), cv=GroupKFold(3))
    together.fit(X, y=np.repeat(y[::2], 2), event=np.arange(600) // 2, groups=lists(region, band))
    assert together.calibrator_.rounds == 600 and len(together.calibrator_.groups) == 4


# --- bad input ------------------------------------------------------------------------------------


def test_what_is_refused_changes_nothing():
    X, y = features()
    model = online(GaussianNB(), groups="region", drop_groups=True).fit(X, y)
    before, counts = state(model), model.estimator_.class_count_.copy()
    many = X.assign(region=[f"place {t}" for t in range(len(X))])
    model.partial_fit(many.iloc[:300], y[:300])
    model.partial_fit(many.iloc[300:], y[300:])
    model = online(GaussianNB(), groups="region", drop_groups=True).fit(X, y)
    assert state(model) == before
    wide = pandas.concat([X] * 3).assign(region=[f"place {t}" for t in range(1200)])
    for message, rows, how in (
        ("groups must be at most 1000 different ones, got 1202", wide, {}),
        ("groups must be columns of X, got 'region'", X[["a", "b"]], {}),
        ("groups must be left out: the classifier was told", X, {"groups": ["n"] * len(X)}),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, np.resize(y, len(rows)), **how)
        assert state(model) == before
        np.testing.assert_array_equal(model.estimator_.class_count_, counts)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (["n"] * 3, "groups must be as long as|equally long"),
        ("north", "groups must be names or lists of names"),
        ([["n"], [{"a": 1}]] * 300, "groups must be texts, numbers or tuples"),
    ],
)
def test_bad_metadata(groups, words):
    p, y, _, _ = log()
    with pytest.raises(ValueError, match=words):
        online().fit(p, y, groups=groups)


def test_groups_are_for_two_classes_and_from_the_first_batch_on():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 60), np.arange(60) % 3
    with pytest.raises(ValueError, match="groups must be left out for more than two classes"):
        online().fit(p, y, groups=["n"] * 60)
    q, z, region, band = log(60)
    model = online().fit(q, z)
    with pytest.raises(ValueError, match=r"groups must be given in the first fit or partial_fit"):
        model.partial_fit(q, z, groups=lists(region, band))
    with pytest.raises(ValueError, match="this forecaster was made without groups"):
        model.predict_proba(q, groups=lists(region, band))
    with pytest.raises(ValueError, match="without groups"):
        model.certificate(group="n")
    with pytest.raises(ValueError, match="groups must be names or numbers of columns"):
        CalibratedOnlineClassifier(groups=[1.5]).fit(q[:, None], z)
