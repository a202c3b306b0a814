"""Other solvers of two-player games, as anybody would write or install them.

All take payoff matrices and answer with probabilities of joint actions. Lemke–Howson is the
textbook's: two full tableaux, lexicographic ratio test, one label.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from time import process_time

import numpy as np
from numba import njit

from fullswap.base.protocols import Points, Vector
from fullswap.games.lp import ANY, best_equilibrium, check_size
from studies.baselines import MOST_BYTES, Found

_TIE = 1e-10
"""Ratios nearer than this are decided by the next column."""
MOST_GAMBIT = 200_000
"""Joint actions up to which Gambit is asked: each is an object of its own there."""


def linear_programme(first: Points, second: Points, budget: float, objective: str = ANY) -> Found:
    """Any equilibrium, or that of the largest welfare, by one programme on the whole game."""
    try:
        check_size(first.shape)
    except ValueError:
        return Found(None, note="too large")
    joint = best_equilibrium([first, second], objective, budget)
    return Found(joint, note="" if joint is not None else "out of time")


def lemke_howson(first: Points, second: Points, budget: float) -> Found:
    """A Nash equilibrium from label 0, on full tableaux."""
    n, m = first.shape
    if 16 * (n + m) * (n + m + 2) > MOST_BYTES:
        return Found(None, note="too large")
    tableaux = [_tableau(first, False), _tableau(second, True)]
    bases = [np.arange(m, m + n), np.arange(n, n + m)]
    state = np.array([0, 1], dtype=np.int64)  # the column that enters next, and which tableau
    started, pivots = process_time(), 0
    while process_time() - started < budget:
        done = _pivots(tableaux[0], tableaux[1], bases[0], bases[1], n, m, state, 200)
        pivots += 200
        if done:
            x = _read(tableaux[1], bases[1], 0, n)
            y = _read(tableaux[0], bases[0], 0, m)
            joint = np.outer(x, y)
            return Found(joint / joint.sum(), pivots)
    return Found(None, pivots, "out of time")


def _tableau(table: Points, turned: bool) -> Points:
    """[M, I, 1] for M y + r = 1, the player's own actions as rows, payoffs made positive."""
    own = table.T if turned else table
    positive = own - own.min() + 1.0
    rows = len(positive)
    return np.hstack((positive, np.eye(rows), np.ones((rows, 1))))


def _read(tableau: Points, basis: Vector, start: int, count: int) -> Vector:
    played = np.zeros(count)
    for row, variable in enumerate(basis):
        if start <= variable < start + count:
            played[int(variable) - start] = max(tableau[row, -1], 0.0)
    return played / played.sum()


@njit
def _pivots(first, second, basis1, basis2, n, m, state, most):
    """Columns of the first tableau: y (m), slacks of rows (n); of the second: x (n), slacks (m)."""
    for _ in range(most):
        tableau = first if state[1] == 0 else second
        basis = basis1 if state[1] == 0 else basis2
        column = state[0]
        rows, width = tableau.shape
        # lexicographic: right-hand side first, then the columns in turn
        best = -1
        for i in range(rows):
            if tableau[i, column] <= 1e-11:
                continue
            if best < 0:
                best = i
                continue
            for k in range(-1, width - 1):
                place = width - 1 if k < 0 else k
                difference = (
                    tableau[i, place] / tableau[i, column]
                    - tableau[best, place] / tableau[best, column]
                )
                if difference < -_TIE:
                    best = i
                    break
                if difference > _TIE:
                    break
        pivot = 1.0 / tableau[best, column]
        for k in range(width):
            tableau[best, k] *= pivot
        for i in range(rows):
            factor = tableau[i, column]
            if i != best and factor != 0.0:
                for k in range(width):
                    tableau[i, k] -= factor * tableau[best, k]
        gone = basis[best]
        basis[best] = column
        own = m if state[1] == 0 else n  # variables of this tableau
        # what left, as the label 0 … n − 1 of the first player's actions, then the second's
        if state[1] == 0:
            label = gone + n if gone < own else gone - own
        else:
            label = gone if gone < own else gone - own + n
        if label == 0:
            return True
        # its partner enters the other tableau
        state[1] = 1 - state[1]
        if state[1] == 0:
            state[0] = label - n if label >= n else m + label
        else:
            state[0] = label  # x for the first player's, slacks n + j for the second's
    return False


def gambit_lcp(first: Points, second: Points, budget: float) -> Found:
    """Gambit's linear complementarity solver, where pygambit is installed.

    It cannot be stopped, so it has a process of its own. Only the solver is timed, not how long
    the game takes to become one of Gambit's.
    """
    if find_spec("pygambit") is None:
        return Found(None, note="not installed")
    if first.size > MOST_GAMBIT:
        return Found(None, note="too large")
    here, there = Pipe(duplex=False)
    child = get_context("fork").Process(target=_ask_gambit, args=(first, second, there))
    child.start()
    there.close()
    found = Found(None, note="out of time")
    try:
        # making the game takes some 30 µs a joint action
        if here.poll(2 * budget + 1e-4 * first.size):
            joint, seconds = here.recv()
            found = Found(joint, seconds=seconds) if seconds <= budget else found
    except EOFError:
        found = Found(None, note="it ended without an answer")
    child.kill()
    child.join()
    return found


def _ask_gambit(first: Points, second: Points, answer: Connection) -> None:
    gambit = import_module("pygambit")
    maker = getattr(gambit, "StrategicGame", gambit.Game)  # as of version 17, or before
    game = maker.from_arrays(first, second)
    spent: list[float] = []
    while not spent or (spent[0] < 0.2 and len(spent) < 3):
        started = process_time()
        found = gambit.nash.lcp_solve(game, stop_after=1, rational=False)
        spent.append(process_time() - started)
    profile = found.equilibria[0]
    mixed = [np.array([share for _, share in profile[player]]) for player in game.players]
    answer.send((np.outer(mixed[0], mixed[1]), float(np.median(spent))))


def matrix_gap(first: Points, second: Points, joint: Points) -> float:
    """The largest swap gap, in plain numpy: nothing of the package that is measured.

    Examples
    --------
    >>> yields = np.array([[0.0, 0.0], [0.0, 1.0]])   # both yield; dare pays 7 instead of 6
    >>> matrix_gap(np.array([[0.0, 7], [2, 6]]), np.array([[0.0, 2], [7, 6]]), yields)
    1.0
    """
    gaps = []
    for table, probabilities in ((first, joint), (second.T, joint.T)):
        used = np.flatnonzero(probabilities.any(axis=1))
        values = probabilities[used] @ table.T
        gaps.append(float((values.max(axis=1) - values[np.arange(len(used)), used]).sum()))
    return max(gaps)
