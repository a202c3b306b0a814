"""Random trees and sequence forms, and walks through them as the slow reference."""

import itertools

import numpy as np

from fullswap.games import SequenceForm, Tree, Vectors, from_tree
from fullswap.games.extensive.tree import CHANCE


def walk(tree, strategies):
    """Expected payoffs when every player acts by information set: {set: branch}, by recursion."""

    def children(node):
        return [k for k in range(tree.nodes) if tree.parents[k] == node]

    def expected(node):
        paid = np.array(tree.payoffs[node] or (0.0,) * len(tree.players))
        if tree.where[node] < 0:
            return paid
        here, below = tree.sets[tree.where[node]], children(node)
        if here.player == CHANCE:
            pairs = zip(here.probabilities, below, strict=True)
            return paid + sum(p * expected(child) for p, child in pairs)
        return paid + expected(below[strategies[tree.where[node]]])

    return expected(0)


def reached(tree, player, strategy):
    """Information sets that a strategy may come to, with its actions there."""
    seen, stack = set(), [0]
    while stack:
        node = stack.pop()
        where = tree.where[node]
        if where < 0:
            continue
        below = [k for k in range(tree.nodes) if tree.parents[k] == node]
        if tree.sets[where].player == player:
            seen.add((where, strategy[where]))
            below = [below[strategy[where]]]
        stack.extend(below)
    return frozenset(seen)


def pure_strategies(tree, player):
    own = [k for k, s in enumerate(tree.sets) if s.player == player]
    ranges = [range(len(tree.sets[k].actions)) for k in own]
    return [dict(zip(own, chosen, strict=True)) for chosen in itertools.product(*ranges)]


def acts(tree, player, actions, action):
    """A reduced strategy as {set: branch}, branch 0 where it does not come."""
    own = [k for k, s in enumerate(tree.sets) if s.player == player]
    if isinstance(actions, Vectors):
        plan = dict.fromkeys(own, 0)
        for part in actions.describe(action).split(", "):
            move, place = part.split(" at ")
            (where,) = (k for k in own if tree.sets[k].name == place)
            plan[where] = tree.sets[where].actions.index(move)
        return plan
    chosen = actions.choices(np.array([action]))[0]
    branches = [
        max(0, list(np.flatnonzero(actions.information_sets == h)).index(s) if s >= 0 else 0)
        for h, s in enumerate(chosen)
    ]
    return dict(zip(own, branches, strict=True))


def check_payoffs(tree, rng, most=600):
    """Payoffs of the structured game agree with walks, on all joint strategies or many."""
    game = from_tree(tree)
    for player, actions in enumerate(game.actions):
        if len(pure_strategies(tree, player)) <= 600:
            plans = {reached(tree, player, s) for s in pure_strategies(tree, player)}
            assert actions.size == len(plans)
    sizes = [actions.size for actions in game.actions]
    joint = np.array(list(np.ndindex(*sizes))) if np.prod(sizes) <= most else None
    if joint is None:
        joint = np.column_stack([rng.integers(size, size=most) for size in sizes])
    expected = []
    for row in joint:
        strategies = {}
        for player, action in enumerate(row):
            strategies |= acts(tree, player, game.actions[player], action)
        expected.append(walk(tree, strategies))
    np.testing.assert_allclose(game.payoffs(joint), expected, rtol=1e-12, atol=1e-12)


def random_tree(rng, players=2, depth=4, forgets=False):
    """A tree where own moves and a random signal tell sets apart, or the signal alone."""
    tree = Tree([f"player {k}" for k in range(players)])
    known = {}

    def grow(level, moves):
        paid = rng.normal(size=players) if rng.random() < 0.6 else None
        if level == depth or (level and rng.random() < 0.15):
            tree.leaf(rng.normal(size=players))
            return
        mover = int(rng.integers(-1, players))
        if mover == CHANCE:
            count = int(rng.integers(1, 4))
            chances = rng.dirichlet(np.ones(count))
            where = tree.information_set(CHANCE, "chance", ["c"] * count, chances.tolist())
        else:
            key = (mover, () if forgets else moves[mover], int(rng.integers(2)))
            if key not in known:
                count = int(rng.integers(1, 4))
                moves_here = [f"a{k}" for k in range(count)]
                known[key] = tree.information_set(mover, f"set {len(known)}", moves_here)
            where = known[key]
        tree.node(where, paid)
        for branch in range(len(tree.sets[where].actions)):
            after = list(moves)
            if mover != CHANCE:
                after[mover] = (*moves[mover], (where, branch))
            grow(level + 1, after)

    grow(0, [()] * players)
    return tree


def random_form(rng, sets=5):
    """Random sequences, those of a set not side by side."""
    parents, places, waiting = [-1], [-1], []
    for k in range(sets):
        waiting.extend([(int(rng.integers(len(parents))), k)] * int(rng.integers(1, 4)))
        rng.shuffle(waiting)
        placed = len(waiting) if k == sets - 1 else int(rng.integers(len(waiting) + 1))
        for _ in range(placed):
            parent, place = waiting.pop()
            parents.append(int(parent))
            places.append(int(place))
    return SequenceForm(parents, places)


def everything(form):
    return form.embed(np.arange(form.size))
