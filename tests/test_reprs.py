"""Results show themselves: one useful line, and cards for notebooks in the page's own colours."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import fullswap as fs
from fullswap.base.html import card, table
from fullswap.base.protocols import Mixture
from fullswap.certificates import Certificate, Quantity
from fullswap.games import StructuredLearner, Vectors, from_matrices, solve, verify, zoo

ERROR = Quantity.L2_CALIBRATION_ERROR


def text_of(html):
    words, open_ = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, _):
            open_.append(tag)

        def handle_endtag(self, tag):
            assert open_.pop() == tag

        def handle_data(self, data):
            words.append(data)

    Reader().feed(html)
    assert not open_
    return " ".join(words)


@pytest.fixture(scope="module")
def learnt():
    disc = fs.sets.Ball([0.0, 0.0], 0.5)
    losses = fs.LossClass(lipschitz=1.0, concave=True)
    learner = fs.FullSwapLearner(disc, losses, horizon=1000)
    learner.play()
    learner.observe(fs.losses.Linear([0.5, 0.0]))
    return learner


def test_certificates():
    made = Certificate(ERROR, 10_000, 4.4, 40.9, 9.0, "theorem", mass=1e4, noise=3.6)
    line = "10,000 forecasts: 2.1 points off, guaranteed at most 6.4"
    assert repr(made) == f"<Certificate: {line}>"
    text = text_of(made._repr_html_())
    assert text.startswith(line)
    for part in ("measured 2.1 4.4", "chance alone would show 1.9 3.6", "guaranteed, at most 6.4"):
        assert part in text
    for words in str(made).splitlines():
        assert words in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (dict(guaranteed=None, broken=("late",)), "nothing is guaranteed"),
        (dict(guaranteed=1e5), "too few events for a guarantee"),
        (dict(guaranteed=4.0), "guaranteed at most 2.0, which is exceeded"),
        (dict(mass=0.0), "no outcomes yet"),
    ],
)
def test_certificates_that_promise_nothing_say_so(changes, said):
    told = dict(guaranteed=40.9, after_the_fact=None, theorem="x", mass=1e4, noise=3.6)
    made = Certificate(ERROR, 10_000, 4.4, **(told | changes))
    assert said in repr(made) and said in text_of(made._repr_html_())


def test_certificates_of_regret(learnt):
    made = learnt.certificate()
    assert repr(made).startswith("<Certificate: full swap regret ")
    assert "after 1 round," in repr(made) and "guaranteed at most" in repr(made)
    assert "measured " in text_of(made._repr_html_())


def test_equilibria():
    found = solve(zoo.chicken())
    line = "chicken: gap 0, 3 joint actions, payoffs 5.25, 5.25"
    assert repr(found) == f"<CorrelatedEquilibrium of {line}>"
    text = text_of(found._repr_html_())
    assert text.startswith(line) and "yield yield 50 %" in text and "dare yield 25 %" in text
    assert "numbered" not in text
    assert repr(found.gaps[0]) == "<Gap: 0 by swaps, 0 by one fixed action>"


def test_equilibria_that_are_large_or_not_reached():
    rng = np.random.default_rng(1)
    game = from_matrices(rng.random((30, 40)), rng.random((30, 40)), player_names=["<b>", "other"])
    support = np.column_stack((rng.integers(0, 30, 25), rng.integers(0, 40, 25)))
    weights = rng.dirichlet(np.ones(25))
    found = verify(game, (support, weights))
    html = found._repr_html_()
    text = text_of(html)
    best = np.argsort(-found.weights)[:10]
    first = f"{found.support[best[0], 0] + 1} {found.support[best[0], 1] + 1} "
    assert first in text and "numbered from 1" in text
    assert f"and {len(found.weights) - 10} more" in text and "<b>" not in html.replace("&lt;b>", "")
    assert f"{len(found.weights)} joint actions" in repr(found)


def test_learners_plans_mixtures_and_records(learnt):
    assert repr(learnt) == (
        f"<FullSwapLearner: concave, {len(learnt.grid)} points of "
        "Ball(center=[0.0, 0.0], radius=0.5); 1 of 1,000 rounds>"
    )
    assert re.fullmatch(
        r"<Plan: concave, hedge, \d+ points; regret of at most [\d.]+ in 1,000 rounds>",
        repr(learnt.plan),
    )
    mixture = Mixture(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0.25, 0.75]))
    assert repr(mixture) == "<Mixture of 2 points, mean (0.75, 1)>"
    player = StructuredLearner(Vectors([[0.0], [0.5], [1.0]]), bound=1.0)
    assert repr(player) == "<StructuredLearner: 3 actions; 0 rounds>"


def test_cards_have_no_colours_of_their_own_and_escape_words():
    html = card("<script>", table(["<i>"], [["&"]]))
    assert "<script>" not in html and "<i>" not in html and "&amp;" in html
    assert "color:" not in html and "background" not in html
