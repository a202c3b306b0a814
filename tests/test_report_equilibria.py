"""Pictures of equilibria: what is drawn equals the profile, summed up slowly."""

import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from fullswap.games import StructuredGame, from_matrices, from_tensor, solve, verify, zoo
from fullswap.report import joint_distribution, marginals
from fullswap.report.style import VERMILION


def slow_sums(equilibrium, *players):
    """(actions of these players) -> probability, one joint action at a time."""
    sums = {}
    for row, weight in zip(equilibrium.support.tolist(), equilibrium.weights, strict=True):
        if weight > 0:
            key = tuple(row[p] for p in players)
            sums[key] = sums.get(key, 0.0) + weight
    return dict(sorted(sums.items()))


def cells(figure):
    return (
        figure.axes[0]
        .collections[0]
        .get_array()
        .data.reshape(len(figure.axes[0].get_yticks()), len(figure.axes[0].get_xticks()))
    )


def names(figure, axis):
    labels = getattr(figure.axes[0], f"get_{axis}ticklabels")()
    return [label.get_text() for label in labels]


def strips(figure):
    """Marginals at the top and at the right."""
    top, right = figure.axes[1:]
    return [bar.get_height() for bar in top.patches], [bar.get_width() for bar in right.patches]


def words(axes):
    return "\n".join(text.get_text() for text in axes.texts)


def random_game(shape, seed):
    return from_tensor(np.random.default_rng(seed).random((len(shape), *shape)))


def random_profile(game, rows, seed):
    """Random joint actions, with repeats and zeros."""
    rng = np.random.default_rng(seed)
    support = np.column_stack([rng.integers(s.size, size=rows) for s in game.actions])
    weights = rng.exponential(size=rows) * (rng.random(rows) < 0.8)
    weights[0] += 0.1
    return verify(game, (support, weights / weights.sum()))


def scattered(rows, players, seed):
    rng = np.random.default_rng(seed)
    support, weights = rng.random((rows, players)), rng.dirichlet(np.ones(rows))
    return verify(zoo.cournot(players), (support, weights))


# --- Heat maps ----------------------------------------------------------------------------


def test_chicken():
    figure = joint_distribution(solve(zoo.chicken()), title="Chicken")
    np.testing.assert_allclose(cells(figure), [[0, 0.25], [0.25, 0.5]], atol=1e-9)
    assert names(figure, "x") == names(figure, "y") == ["dare", "yield"]
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["0.25", "0.25", "0.5"]
    np.testing.assert_allclose(strips(figure), [[0.25, 0.75]] * 2, atol=1e-9)
    assert "chicken: 3 joint actions\ngap below 1e-12, payoffs 5.25, 5.25" in words(figure.axes[1])
    assert figure.axes[1].get_title(loc="left") == "Chicken"


def test_first_action_of_rows_stands_at_the_top():
    ends = joint_distribution(solve(zoo.chicken())).axes[0].get_ylim()
    assert ends[0] > ends[1]


@settings(max_examples=15)
@given(
    shape=st.sampled_from([(2, 3), (3, 5), (2, 3, 4), (6, 2)]),
    rows=st.integers(1, 30),
    swapped=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_cells_and_strips_equal_slow_sums(shape, rows, swapped, seed):
    found = random_profile(random_game(shape, seed), rows, seed)
    i, j = pair = (len(shape) - 1, 0) if swapped else (0, len(shape) - 1)
    figure = joint_distribution(found, players=pair)
    table, expected = cells(figure), slow_sums(found, i, j)
    down, across = names(figure, "y"), names(figure, "x")
    assert down == [str(a) for (a,) in slow_sums(found, i)]
    assert across == [str(a) for (a,) in slow_sums(found, j)]
    for r, a in enumerate(down):
        for c, b in enumerate(across):
            assert table[r, c] == pytest.approx(expected.get((int(a), int(b)), 0.0))
    top, right = strips(figure)
    np.testing.assert_allclose(top, table.sum(axis=0))
    np.testing.assert_allclose(right, table.sum(axis=1))


def test_pairs_of_three_players_are_told():
    found = random_profile(random_game((2, 3, 4), 1), 9, 1)
    figure = joint_distribution(found, players=(2, 1))
    assert "player 3 and player 2 of 3 players" in words(figure.axes[1])
    assert figure.axes[0].get_ylabel().startswith("player 3: ")
    assert figure.axes[0].get_xlabel().startswith("player 2: ")


def test_without_labels_there_are_no_names_and_numbers():
    figure = joint_distribution(solve(zoo.chicken()), labels=False)
    assert names(figure, "x") == names(figure, "y") == []
    assert not figure.axes[0].texts
    assert "gap" in words(figure.axes[1])


def test_large_tables_carry_no_numbers():
    assert not joint_distribution(verify(*uniform(12))).axes[0].texts
    assert len(joint_distribution(verify(*uniform(8))).axes[0].texts) == 64


def uniform(n):
    return zoo.ring(n), np.full((n, n), n**-2.0)


def test_long_names_become_numbers_with_a_key():
    found = solve(zoo.kuhn_poker())
    figure = joint_distribution(found)
    told = " ".join(figure.axes[0].get_xlabel().split())
    for player, axis in enumerate("yx"):
        actions = [a for (a,) in slow_sums(found, player)]
        assert names(figure, axis) == [f"#{a}" for a in actions]
        for action in actions:
            assert f"#{action} {found.game.actions[player].describe(action)}" in told


def test_key_holds_the_likeliest_actions():
    game = zoo.kuhn_poker()
    weights = np.arange(1.0, 13.0)
    found = verify(game, (np.column_stack((np.arange(12), np.arange(12))), weights / 78))
    told = marginals(found).axes[0].get_xlabel()
    assert told.endswith("and 7 more")
    assert [line.split()[0] for line in told.splitlines() if line.startswith("#")] == [
        f"#{k}" for k in range(7, 12)
    ]


def test_points_of_a_region_have_names():
    figure = joint_distribution(solve(zoo.quadratic_2d()))
    assert names(figure, "y")[0].startswith("(1.9")
    marginals(solve(zoo.quadratic_2d()))


# --- Scatter ------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
def test_dots_of_curves_stand_at_the_actions(players):
    found = scattered(30, players, seed=2)
    figure = joint_distribution(found, players=(1, 0))
    (dots,) = figure.axes[0].collections
    order = np.argsort(found.support[:, 0])
    shown = np.argsort(dots.get_offsets()[:, 0])
    np.testing.assert_allclose(dots.get_offsets()[shown], found.support[order][:, :2])
    areas, weights = dots.get_sizes()[shown], found.weights[order]
    above = areas > areas.min() * 1.01
    ratio = areas[above] / weights[above]
    assert above.sum() > 15 and np.ptp(ratio) < 1e-9 * ratio.max()
    assert (weights[~above] <= weights[above].min()).all()
    assert figure.axes[0].get_ylim()[0] < figure.axes[0].get_ylim()[1]


def test_strips_beside_dots():
    found = scattered(30, 2, seed=3)
    top, right = joint_distribution(found).axes[1:]
    for player, strip, at in ((1, top, 0), (0, right, 1)):
        ends = np.array(strip.collections[0].get_segments())
        actions, chances = found.marginal(player)
        np.testing.assert_allclose(ends[:, 0, at], actions)
        np.testing.assert_allclose(ends[:, 1, 1 - at], chances)


def test_many_actions_are_scattered_by_number():
    found = random_profile(zoo.ring(100_000), 300, seed=4)
    (dots,) = joint_distribution(found).axes[0].collections
    expected = [(b, a) for a, b in slow_sums(found, 0, 1)]
    assert sorted(map(tuple, dots.get_offsets().tolist())) == sorted(expected)


def test_forty_actions_are_a_table_and_forty_one_are_not():
    assert len(names(joint_distribution(verify(*uniform(40))), "x")) == 40
    more = joint_distribution(verify(*uniform(41))).axes[0]
    assert len(more.collections[0].get_offsets()) == 41**2


# --- Where something is ---------------------------------------------------------------------


def large_game(size=3000):
    """Ring games of this size with names for players and actions."""
    angles = 2 * np.pi * np.arange(size) / size
    ring = np.column_stack((np.cos(angles), np.sin(angles)))
    labels = [[f"{who} {k}" for k in range(size)] for who in ("bid", "ask")]
    return StructuredGame.from_embeddings(
        ring, ring, ring, -ring, labels=labels, player_names=["buyer", "seller"]
    )


def clustered(count, tail=0, seed=1):
    """A profile on some actions next to each other, and some more with hardly any probability."""
    rng = np.random.default_rng(seed)
    core = np.column_stack((1200 + rng.permutation(count), 2000 + rng.permutation(count)))
    rare = rng.integers(0, 1000, (tail, 2))
    weights = np.concatenate([np.full(count, 1.0), np.full(tail, 1e-4)])
    return verify(large_game(), (np.vstack([core, rare]), weights / weights.sum()))


@pytest.mark.parametrize("tail", [0, 60])
def test_forty_of_three_thousand_actions_have_their_names(tail):
    found = clustered(40, tail)
    figure = joint_distribution(found)
    assert names(figure, "y") == [f"bid {k}" for k in range(1200, 1240)]
    assert names(figure, "x") == [f"ask {k}" for k in range(2000, 2040)]
    label = figure.axes[0].get_ylabel()
    assert label.startswith("buyer: 40 of 3,000 actions")
    assert ("of the probability" in label) == (tail > 0)
    for panel, who in zip(marginals(found).axes, ("buyer", "seller"), strict=True):
        assert len(panel.patches) == 40 and panel.get_xlabel().startswith(f"{who}: 40 of 3,000")


def test_an_axis_of_many_actions_ends_where_they_end():
    figure = joint_distribution(clustered(100))
    low, high = figure.axes[0].get_xlim()
    assert 1980 < low < 2000 and 2099 < high < 2120
    assert "shown: 2,000 to 2,099 of 0 to 2,999, numbered from 0" in figure.axes[0].get_xlabel()
    panel = marginals(clustered(100)).axes[0]
    assert panel.get_xlim()[0] > 1180 and panel.get_xlim()[1] < 1320


def test_curves_are_shown_where_actions_are():
    support = np.column_stack((np.linspace(0.3, 0.35, 5), np.linspace(0.1, 0.9, 5)))
    found = verify(zoo.cournot(2), (support, np.full(5, 0.2)))
    near, wide = marginals(found).axes
    assert 0.28 < near.get_xlim()[0] < 0.3 and 0.35 < near.get_xlim()[1] < 0.37
    assert "shown: 0.3 to 0.35 of 0 to 1" in near.get_xlabel()
    assert wide.get_xlim() == (-0.02, 1.02) and "shown" not in wide.get_xlabel()
    marked = marginals(found, marks={0: 0.9}).axes[0]
    assert marked.get_xlim() == (-0.02, 1.02)  # the mark is seen as well


# --- Marginals ----------------------------------------------------------------------------


def test_stems_of_curves():
    found = scattered(20, 3, seed=5)
    panels = marginals(found).axes
    assert len(panels) == 3
    for player, panel in enumerate(panels):
        ends = np.array(panel.collections[0].get_segments())
        actions, chances = found.marginal(player)
        np.testing.assert_allclose(ends[:, 1], np.column_stack((actions, chances)))
        assert f"mean {found.weights @ found.support[:, player]:.3g}" in panel.get_xlabel()


def test_bars_of_a_small_set_stand_at_their_numbers():
    found = random_profile(zoo.ring(24, 30), 9, seed=6)
    for player, panel in enumerate(marginals(found).axes):
        bars = {round(b.get_x() + b.get_width() / 2): b.get_height() for b in panel.patches}
        expected = {a: p for (a,), p in slow_sums(found, player).items()}
        assert bars == pytest.approx(expected)
        assert [t.get_text() for t in panel.get_xticklabels()] == [str(a) for a in expected]
        assert panel.get_xlim() == (-0.5, (24, 30)[player] - 0.5)


def test_bars_of_a_large_set_stand_side_by_side():
    found = random_profile(zoo.ring(100_000), 7, seed=7)
    panel = marginals(found).axes[0]
    expected = slow_sums(found, 0)
    np.testing.assert_allclose([b.get_height() for b in panel.patches], list(expected.values()))
    assert [t.get_text() for t in panel.get_xticklabels()] == [str(a) for (a,) in expected]
    assert f"{len(expected)} of 100,000 actions" in panel.get_xlabel()


def mark_of(panel):
    (line,) = [k for k in panel.lines if to_rgba(k.get_color()) == to_rgba(VERMILION)]
    (text,) = [k for k in panel.texts if k.get_color() == VERMILION]
    return line.get_xdata()[0], text.get_text()


def test_marks_on_curves_and_small_sets():
    panels = marginals(solve(zoo.cournot()), marks={0: (1 / 3, "q*"), 1: 0.25}).axes
    assert mark_of(panels[0]) == (1 / 3, "q*")
    assert mark_of(panels[1]) == (0.25, "0.25")
    panels = marginals(solve(zoo.chicken()), marks={1: 0}).axes
    assert mark_of(panels[1]) == (0, "dare")
    assert not panels[0].lines


def test_mark_on_an_action_of_a_large_set_that_is_not_recommended():
    found = verify(zoo.ring(1000), ([[5, 1], [700, 1]], [0.5, 0.5]))
    panel = marginals(found, marks={0: 300}).axes[0]
    assert [t.get_text() for t in panel.get_xticklabels()] == ["5", "300", "700"]
    assert mark_of(panel) == (1, "300")
    assert "2 of 1,000 actions" in panel.get_xlabel()
    assert mark_of(marginals(found, marks={0: 700}).axes[0]) == (1, "700")


def test_mark_with_a_long_name_shows_its_number():
    assert mark_of(marginals(solve(zoo.kuhn_poker()), marks={0: 3}).axes[0]) == (3, "#3")


# --- Figures ------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [joint_distribution, marginals])
@pytest.mark.parametrize(
    "make",
    [zoo.chicken, zoo.cournot, zoo.auction, zoo.kuhn_poker, zoo.calibration_game],
)
def test_all_that_is_drawn_lies_in_the_figure(draw, make):
    figure = draw(solve(make()), title="A title")
    width, height = figure.get_size_inches()
    box = figure.get_tightbbox()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
    assert box.width > 0.8 * width and box.height > 0.8 * height


def test_panels_do_not_overlap():
    boxes = [panel.get_tightbbox() for panel in marginals(solve(zoo.kuhn_poker())).axes]
    assert boxes[1].y1 < boxes[0].y0


@pytest.mark.parametrize("draw", [joint_distribution, marginals])
@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_saving(draw, kind, start):
    for found in (solve(zoo.shapley()), scattered(10, 3, seed=8)):
        file = io.BytesIO()
        draw(found, title="A title").savefig(file, format=kind)
        assert file.getvalue().startswith(start)


@pytest.mark.parametrize("draw", [joint_distribution, marginals])
def test_given_axes_are_used_and_the_figure_keeps_its_size(draw):
    figure = Figure(figsize=(9, 4))
    left, right = figure.subplots(1, 2)
    assert draw(solve(zoo.shapley()), ax=right) is figure
    assert right.has_data() and not left.has_data()
    assert tuple(figure.get_size_inches()) == (9, 4)
    figure.savefig(io.BytesIO(), format="png")


def test_pyplot_is_not_imported():
    code = (
        "import sys; from fullswap import report; from fullswap.games import solve, zoo;"
        "assert 'matplotlib' not in sys.modules; found = solve(zoo.chicken());"
        "report.joint_distribution(found); report.marginals(found);"
        "assert 'matplotlib.figure' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (joint_distribution, marginals):
        with pytest.raises(ImportError, match=r"fullswap\[plot\]"):
            draw(verify(zoo.chicken(), [[0, 0.25], [0.25, 0.5]]))


def test_summary_of_a_missed_gap_and_payoffs_below_zero():
    game = from_matrices([[-1, 0], [0, -3]], [[-2, 0], [0, -1]])
    figure = marginals(verify(game, [[0.5, 0], [0, 0.5]]))
    assert "gap 2, payoffs −2, −1.5" in words(figure.axes[0])
    slow = solve(zoo.ring(100), 1e-9, "matching", rounds=40)
    assert not slow.reached and "not as small as asked" in words(marginals(slow).axes[0])


# --- Bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [joint_distribution, marginals])
@pytest.mark.parametrize("wrong", [None, [[0, 0.25], [0.25, 0.5]], zoo.chicken()])
def test_bad_equilibrium(draw, wrong):
    with pytest.raises(ValueError, match="equilibrium must be a CorrelatedEquilibrium, .*, got"):
        draw(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(players=(0, 2)), r"players must be two different numbers from 0 to 1, got \(0, 2\)"),
        (dict(players=(1, 1)), r"players must .*, got \(1, 1\)"),
        (dict(players=(0, -1)), r"players must .*, got \(0, -1\)"),
        (dict(players=(0, True)), r"players must .*, got \(0, True\)"),
        (dict(players=(0,)), r"players must .*, got \(0,\)"),
        (dict(players=0), "players must .*, got 0"),
        (dict(players=(0, 1.0)), r"players must .*, got \(0, 1.0\)"),
        (dict(labels="few"), "labels must be True or False, got 'few'"),
    ],
)
def test_bad_options_of_the_joint_distribution(options, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        joint_distribution(solve(zoo.chicken()), ax=axes, **options)
    assert not axes.has_data() and len(axes.figure.axes) == 1


@pytest.mark.parametrize(
    ("make", "marks", "message"),
    [
        (zoo.cournot, 0.3, "marks must be a mapping of players to actions, got 0.3"),
        (zoo.cournot, {2: 0.3}, "marks must have players from 0 to 1 as keys, got 2"),
        (zoo.cournot, {"a": 0.3}, "marks must have players .*, got 'a'"),
        (zoo.cournot, {0: "q"}, r"marks\[0\] must be a number, or a pair .*, got 'q'"),
        (zoo.cournot, {0: None}, r"marks\[0\] must .*, got None"),
        (zoo.cournot, {0: (0.1, "q", 2)}, r"marks\[0\] must .*, got \(0.1, 'q', 2\)"),
        (zoo.cournot, {0: np.nan}, r"marks\[0\] = nan must be finite"),
        (zoo.cournot, {1: 7.5}, r"marks\[1\] = 7.5 must lie in \[0, 1\]"),
        (zoo.chicken, {0: 2}, r"marks\[0\] = 2 must be whole numbers from 0 to 1"),
        (zoo.chicken, {0: 0.5}, r"marks\[0\] = 0.5 must be whole numbers"),
        (
            zoo.quadratic_2d,
            {0: (1.0, 0.0)},
            "must be absent but for curves and finite sets",
        ),
    ],
)
def test_bad_marks(make, marks, message):
    axes = Figure().subplots()
    found = solve(make())
    with pytest.raises(ValueError, match=message):
        marginals(found, marks=marks, ax=axes)
    assert not axes.has_data() and len(axes.figure.axes) == 1
