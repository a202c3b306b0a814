"""The driver: faithful transcripts, whatever the learner, and a progress bar only where wanted."""

import os
import subprocess
import sys

import numpy as np
import pytest

from fullswap import play, sets
from fullswap.adversaries import OneBin, all_adversaries
from fullswap.base import progress
from fullswap.base.protocols import Mixture
from fullswap.losses import LossClass, Quadratic
from fullswap.metrics import full_swap_regret
from fullswap.play import simulate
from fullswap.template import FullSwapLearner

LINE = sets.Interval(2.0, 5.0)
SQUARED = LossClass.squared(LINE.diameter)


class Follower:
    """Plays the mean of the outcomes, in one array that it writes over and over; no labels."""

    def __init__(self, labels=None):
        self.action_set = LINE
        self.points_played = np.full((2, 1), 3.0)
        self.weights = np.array([0.25, 0.75])
        self.labels = labels
        self.total, self.seen = 0.0, 0

    def play(self):
        return Mixture(self.points_played, self.weights, self.labels)

    def observe(self, loss):
        self.total += -loss.coefficients[1] / (2 * loss.coefficients[0])
        self.seen += 1
        self.points_played[:] = [[2.0], [self.total / self.seen]]


class Alternating:
    """Remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def choose(self, mixture, round_index):
        self.asked.append((round_index, mixture.mean[0]))
        return Quadratic([2.0 if round_index % 2 else 5.0])


@pytest.mark.parametrize(
    ("action_set", "promised"),
    [
        (LINE, SQUARED),
        (LINE, LossClass(1.0)),
        (sets.Box([0.0, 1.0], [1.0, 1.5]), LossClass.squared(1.2)),
        (sets.Simplex(2), LossClass(1.0, concave=True)),
        (sets.Ball([3.0, 3.0], 0.5), LossClass(1.0, smoothness=1.0)),
        (sets.Polytope([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), LossClass.squared(1.5)),
    ],
)
def test_transcripts_hold_distributions_on_the_set(action_set, promised):
    every = 1 if action_set.dim < 3 else 4  # triangulating in three dimensions takes its time
    for adversary in list(all_adversaries(action_set, promised, seed=1))[::every]:
        learner = FullSwapLearner(action_set, promised, 30, mesh=0.4)
        transcript = simulate(learner, adversary, 30)
        assert len(transcript) == learner.rounds == 30
        assert transcript.weights.min() >= 0
        assert transcript.weights.sum(axis=1) == pytest.approx(np.ones(30))
        played = transcript.points[np.unique(transcript.indices)]
        assert action_set.contains(played).all()
        assert transcript.lipschitz == promised.lipschitz
        told = transcript.losses if transcript.coefficients is None else transcript.coefficients
        assert len(told) == 30


def test_the_transcript_says_what_was_played_and_met():
    learner, twin = (FullSwapLearner(LINE, SQUARED, 200) for _ in range(2))
    opponent = Alternating()
    transcript = simulate(learner, opponent, 200)
    means = []
    for t in range(200):
        means.append(twin.play().mean[0])
        twin.observe(Quadratic([2.0 if t % 2 else 5.0]))
    assert [t for t, _ in opponent.asked] == list(range(200))
    assert [mean for _, mean in opponent.asked] == means
    played = (transcript.weights * transcript.points[transcript.indices, 0]).sum(axis=1)
    assert played == pytest.approx(means, abs=1e-12)
    assert transcript.coefficients[:2, 1].tolist() == [-10.0, -4.0]
    assert full_swap_regret(transcript) == pytest.approx(learner.certificate().measured)


def test_labels_and_coordinates_give_the_same_regret():
    labelled = FullSwapLearner(LINE, SQUARED, None)  # its grid grows on the way

    class Unlabelled:
        def __init__(self):
            self.inner = FullSwapLearner(LINE, SQUARED, None)
            self.action_set, self.context = LINE, self.inner.context
            self.observe = self.inner.observe

        def play(self):
            mixture = self.inner.play()
            return Mixture(mixture.points, mixture.weights)

    one = simulate(labelled, OneBin(LINE, SQUARED), 600)
    other = simulate(Unlabelled(), OneBin(LINE, SQUARED), 600)
    assert len(other.points) <= len(one.points) == len(labelled.points)
    assert full_swap_regret(one) == pytest.approx(full_swap_regret(other))
    assert one.lipschitz == other.lipschitz == SQUARED.lipschitz


def test_allowed_actions_travel_with_the_transcript():
    actions = [2.0, 3.0, 4.5, 5.0]
    learner = FullSwapLearner(LINE, SQUARED, 50, actions=actions)
    transcript = simulate(learner, OneBin(LINE, SQUARED), 50)
    assert transcript.actions[:, 0].tolist() == actions
    assert set(transcript.points[:, 0]) <= set(actions)


@pytest.mark.parametrize("labels", [None, np.array([0, 1])])
def test_a_plain_learner_that_reuses_its_arrays(labels):
    """Labels without ``points`` do not suffice: coordinates count."""
    transcript = simulate(Follower(labels), Alternating(), 4)
    played = transcript.points[transcript.indices, 0]
    assert played.tolist() == [[3.0, 3.0], [2.0, 5.0], [2.0, 3.5], [2.0, 4.0]]
    assert transcript.weights.tolist() == [[0.25, 0.75]] * 4
    assert transcript.lipschitz is None and transcript.actions is None


# --- progress ---------------------------------------------------------------------------------


def run(progress, rounds=100):
    return simulate(FullSwapLearner(LINE, SQUARED, rounds), OneBin(LINE, SQUARED), rounds, progress)


def test_progress_can_be_forced_and_forbidden(capsys, monkeypatch):
    run(True)
    shown = capsys.readouterr()
    assert "rounds" in shown.err and "100%" in shown.err
    assert shown.out == ""
    planned = FullSwapLearner(LINE, SQUARED, 100)  # a plan that takes long has a bar of its own
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    simulate(planned, OneBin(LINE, SQUARED), 100, False)
    assert capsys.readouterr() == ("", "")


def test_progress_shows_itself_on_a_terminal_in_long_runs_only(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)  # every run counts as long
    run(None)
    assert capsys.readouterr() == ("", "")  # but standard error is no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(None)
    shown = capsys.readouterr()
    assert "100%" in shown.err and shown.out == ""
    monkeypatch.setattr(progress, "PATIENCE", 1e9)
    run(None)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("wanted", [True, None])
def test_without_rich_there_is_no_bar(capsys, monkeypatch, wanted):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert len(run(wanted)) == 100
    assert capsys.readouterr() == ("", "")


def test_the_bar_changes_nothing_and_closes_when_a_round_fails(monkeypatch):
    quiet, shown = run(False), run(True)
    assert np.array_equal(quiet.weights, shown.weights)
    assert np.array_equal(quiet.coefficients, shown.coefficients)
    closed = []

    class Bar:
        task_ids = (0,)

        def update(self, task, completed, refresh):
            pass

        def stop(self):
            closed.append(True)

    class Failing:
        def choose(self, mixture, round_index):
            if round_index == 5:
                raise RuntimeError("no loss left")
            return Quadratic([2.0])

    monkeypatch.setattr(play.Progress, "_open", lambda self: Bar())
    with pytest.raises(RuntimeError, match="no loss left"):
        simulate(FullSwapLearner(LINE, SQUARED, 10), Failing(), 10, progress=True)
    assert closed == [True]


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, -3, 2.0, True, "ten", None, float("nan")])
def test_rounds_must_be_a_whole_number(rounds):
    learner = FullSwapLearner(LINE, SQUARED, 10)
    with pytest.raises(ValueError, match="rounds must be a whole number >= 1, got"):
        simulate(learner, OneBin(LINE, SQUARED), rounds)
    assert learner.rounds == 0


def test_parts_are_recognised_by_their_verbs():
    learner, adversary = FullSwapLearner(LINE, SQUARED, 10), OneBin(LINE, SQUARED)
    with pytest.raises(ValueError, match="learner must have play, observe, action_set, got"):
        simulate(adversary, adversary, 10)
    with pytest.raises(ValueError, match="adversary must have choose, got"):
        simulate(learner, learner, 10)
    with pytest.raises(ValueError, match="progress must be None, True or False, got 'yes'"):
        simulate(learner, adversary, 10, progress="yes")
    assert learner.rounds == 0
    assert len(simulate(learner, adversary, np.int64(3))) == 3


def test_a_broken_standard_error_leaves_standard_output_alone():
    """The bar ends, the work goes on, and what is printed afterwards still arrives."""
    script = (
        "import sys, os\n"
        "from fullswap.base.progress import Progress\n"
        "with Progress(100, True) as bar:\n"
        "    for done in range(101):\n"
        "        bar._drawn = -1.0\n"
        "        bar.update(done)\n"
        "print('all done')\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=writer, timeout=60
        )
    finally:
        os.close(writer)
    assert result.returncode == 0 and result.stdout == b"all done\n"
