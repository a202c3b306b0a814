"""Groups with river: features or functions of them, the same as the Recalibrator's."""

import pickle

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import compose, evaluate, linear_model, metrics, naive_bayes  # noqa: E402

from fullswap import Recalibrator  # noqa: E402
from fullswap.integrations.river import Calibrated  # noqa: E402


def events(count=300, seed=0):
    """Probabilities that are too high in the north; all but the first may have no region."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        region = ("north", "south", None)[rng.integers(3 if k else 2)]
        chance = float(rng.uniform(0.1, 0.7))
        said = chance + 0.25 * (region == "north")
        x = {True: said, "band": int(rng.integers(2))}
        yield (x if region is None else {**x, "region": region}), bool(rng.random() < chance)


def names(x):
    own = [f"region={x['region']}"] if "region" in x else []
    return [*own, f"band={x['band']}"]


def parity(x):
    return ["high"] if x[True] > 0.5 else None


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("band", lambda x: [f"band={x['band']}"]),
        (["region", "band"], names),
        (("region",), lambda x: names(x)[:-1]),
    ],
)
def test_features_are_groups(where, wanted):
    features = {"band", "region"} - set([where] if isinstance(where, str) else where)
    model, plain = Calibrated(seed=1, groups=where), Recalibrator(groups="open", seed=1)
    for x, y in events():
        x = {name: value for name, value in x.items() if name not in features}
        groups = wanted({"band": 0, **x})
        known = plain.groups
        expected = plain.peek(x[True], groups=groups).mean
        assert model.predict_proba_one(x)[True] == pytest.approx(expected, abs=1e-12)
        assert model.calibrator.groups == known  # to ask changes nothing
        plain.update(float(y), plain.predict(x[True], groups=groups))
        model.learn_one(x, y)
    assert model.calibrator.to_json() == plain.to_json()


def test_a_function_gives_names():
    model, plain = Calibrated(seed=1, groups=parity), Recalibrator(groups="open", seed=1)
    for x, y in events():
        bare = {True: x[True]}
        plain.update(float(y), plain.predict(x[True], groups=parity(bare)))
        model.learn_one(bare, y)
    assert model.calibrator.to_json() == plain.to_json()
    assert model.calibrator.groups == ("high",)
    assert pickle.loads(pickle.dumps(model)).calibrator.to_json() == plain.to_json()


def test_one_name_is_as_good_as_a_list():
    one = Calibrated(seed=1, groups=lambda x: "high" if x[True] > 0.5 else "low")
    listed = Calibrated(seed=1, groups=lambda x: ["high"] if x[True] > 0.5 else ["low"])
    for x, y in events(50):
        for model in (one, listed):
            model.learn_one({True: x[True]}, y)
    assert one.calibrator.to_json() == listed.calibrator.to_json()


def test_events_keep_their_groups():
    model, plain = Calibrated(seed=1, groups="region"), Recalibrator(groups="open", seed=1)
    for k, (x, y) in enumerate(events(90)):
        x = {name: value for name, value in x.items() if name != "band"}
        groups = [f"region={x['region']}"] if "region" in x else []
        shown = model.forecast_one(x, k // 3)
        assert shown[True] == plain.predict(x[True], groups=groups, event=k // 3).mean
        if k % 3 == 2:
            model.learn_one(x, y, event=k // 3)
            plain.resolve(k // 3, float(y))
    assert model.calibrator.to_json() == plain.to_json()


def test_a_classifier_gets_all_features():
    inside = compose.Discard("region") | linear_model.LogisticRegression()
    model = Calibrated(inside, seed=1, groups="region")
    rows = [({"a": x[True], **{k: x[k] for k in ("region",) if k in x}}, y) for x, y in events(400)]
    evaluate.progressive_val_score(iter(rows), model, metrics.LogLoss())
    assert set(model.calibrator.groups) == {"region=north", "region=south"}
    table = model.by_group()
    assert {row.name for row in table} == {"everybody", "region=north", "region=south"}
    north = model.certificate(group="region=north")
    assert north.rounds == sum(x.get("region") == "north" for x, _ in rows)
    for certificate in (north, *(row.certificate for row in table)):
        assert "predict_proba_one" in str(certificate)
    assert model.clone().groups == "region"


def test_what_is_refused_changes_nothing():
    model = Calibrated(naive_bayes.GaussianNB(), seed=1, groups="kind")
    model.learn_one({"a": 1.0, "kind": 0}, True)
    before = pickle.dumps(model)
    for message, act in {
        "y must be False or True for a classifier with groups, got 'red'": lambda: model.learn_one(
            {"a": 1.0, "kind": 0}, "red"
        ),
        "column 'kind' of groups must": lambda: model.learn_one({"a": 1.0, "kind": [1]}, True),
        "group must be one of": lambda: model.certificate(group="kind=9"),
    }.items():
        with pytest.raises(ValueError, match=message):
            act()
        assert pickle.dumps(model) == before
    plain = Calibrated(linear_model.LogisticRegression(), seed=1)
    with pytest.raises(ValueError, match="group must be left out: .* without groups"):
        plain.certificate(group="n")
    assert [row.name for row in plain.by_group()] == ["everybody"]


def ask(model, x):
    model.predict_proba_one(x)


def learn(model, x):
    model.learn_one(x, True)


def forecast(model, x):
    model.forecast_one(x)


@pytest.mark.parametrize("act", [ask, learn, forecast])
@pytest.mark.parametrize("where", ["regoin", 5, ["region", "regoin"]])
def test_a_misspelt_feature_is_told_with_the_first_event(where, act):
    model = Calibrated(linear_model.LogisticRegression(), groups=where, seed=1)
    before = pickle.dumps(model)
    wrong = where[1] if isinstance(where, list) else where
    rule = f"groups must name features that the first event has, of .*, got {wrong!r}"
    with pytest.raises(ValueError, match=rule):
        act(model, {"a": 1.0, "region": 2})
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("first", [learn, forecast])
def test_a_feature_may_be_missing_later(first):
    model = Calibrated(linear_model.LogisticRegression(), groups=7, seed=1)
    first(model, {"a": 1.0, 7: 2})
    for act in (ask, learn, forecast):
        act(model, {"a": 1.0})
    assert model.calibrator.groups == ("7=2",)


@pytest.mark.parametrize(
    "where", [{"region": "a"}, np.zeros(2), [], [["a"]], True, 0.5, ["a", None]]
)
def test_what_is_neither_feature_nor_function(where):
    with pytest.raises(
        ValueError, match="groups must be a feature, a list of features, a function"
    ):
        Calibrated(linear_model.LogisticRegression(), groups=where)


def test_more_groups_than_there_is_room_for():
    model = Calibrated(seed=1, groups=lambda x: [f"place {x['n']} {k}" for k in range(100)])
    for n in range(10):
        model.calibrator.run([0.5], [1], groups=[[f"place {n} {k}" for k in range(100)]])
    bare = Calibrated(linear_model.LogisticRegression(), groups=model.groups)
    bare._calibrator = model.calibrator
    with pytest.raises(ValueError, match="groups must be at most 1000 different ones, got 1100"):
        bare.learn_one({"n": 10}, True)
    assert not bare.classifier.weights
