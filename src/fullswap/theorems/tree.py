"""The tree: full swap regret in any dimension, at a cost that does not know the dimension.

T rounds are the leaves of a tree with N levels of nodes below its root. A node of level l covers
w_l = H^(N−l) consecutive rounds; all through them it plays one point p_v: what an external-regret
learner of its parent recommends after the mean losses of its elder siblings. Every round plays
the N nodes that cover it, each with weight 1/N. [DDFG23], [PR23], here with constants.

**Theorem.** For convex, L-Lipschitz losses, after any number t ≤ T of rounds,

    FullSwapReg ≤ (1/N)·[ Σ_l Σ_{u at level l−1} Reg_u + OPT_0 − OPT_N ],

where OPT_l = Σ_{v at level l} min_x Σ_{t ∈ v} ℓ_t(x), intervals end at round t, and Reg_u is the
regret of u's learner, its children weighted by the rounds that were played in them.

*Proof.* Points that several nodes share only help: max_x of a sum is at most the sum of max_x. So
the regret is at most (1/N)·Σ_v max_x Σ_{t∈v} (ℓ_t(p_v) − ℓ_t(x)) = (1/N)·Σ_v Σ_{t∈v} ℓ_t(p_v) −
(1/N)·Σ_l OPT_l. The learner of u, whose loss at child v is Σ_{t∈v} ℓ_t, has
Σ_{v child of u} Σ_{t∈v} ℓ_t(p_v) ≤ min_x Σ_{t∈u} ℓ_t(x) + Reg_u; summed over u at level l − 1,
that is OPT_{l−1} + Σ_u Reg_u. The OPT telescope. ∎

**Variation.** OPT_0 ≤ Σ ℓ_t(c) and OPT_N = Σ min ℓ_t, so OPT_0 − OPT_N ≤ V·t whenever
ℓ(c) − min ℓ ≤ V. Let all of the set be within R of the start point c. Then V = L·R will do. If
losses are α-strongly convex, x their minimiser, r = ‖x − c‖ and the set reaches s beyond c on the
line from x, then f(u) = ℓ(c + u·(x − c)/r) has f' ≥ −L at u = −s and f'' ≥ α, so
f'(0) ≥ α·s − L and ℓ(c) − ℓ(x) ≤ −f'(0)·r − α·r²/2 ≤ (L − α·s)·r − α·r²/2. With s ≥ ρ if a ball of
radius ρ around c fits into the set, and s ≥ r if the set is symmetric about c:

    V = max_{0≤r≤R} [ L·r − α·r·max(ρ, r·1[symmetric]) − α·r²/2 ].

**Learners.** Children of w rounds each, the last one perhaps cut off: a whole ones and a share φ of
one. With scales g_i = 1, …, 1, φ of the mean losses, which have slopes of at most L,
‖p_{i+1} − x‖² ≤ ‖p_i − x‖² − 2η_i⟨∇_i, p_i − x⟩ + η_i²·L² for p_{i+1} = Π(p_i − η_i·∇_i); the last
step only serves the proof, no later point depends on it, so its rate is free.

- *Convex.* From p_1 = c with η_i = η·g_i, sum: Reg ≤ w·[R²/2η + η·L²·(a + φ²)/2]. With
  η = R/(L·√n), n the children planned for, it is w·(L·R/2)·(√n + (a + φ²)/√n), and w·L·R·√n at n.
- *α-strongly convex.* With η_i = g_i/(α·G_i), G_i = g_1 + … + g_i, g_i·(f(p_i) − f(x)) ≤
  (α/2)·(G_{i−1}·‖p_i − x‖² − G_i·‖p_{i+1} − x‖²) + g_i²·L²/(2α·G_i). Sum: Reg ≤
  w·(L²/2α)·(H_a + φ²/(a + φ)), H_a = 1 + ½ + … + 1/a, and φ²/(a + φ) ≤ φ/(a + 1).

Besides, the rounds of the first child, which plays c, cost V each at most, and no round costs more
than B = L·D.

**Any horizon.** Only the root's last child and the nodes on the way to the last round are ever cut
off, so T need not be a power: the root plans n = T/w_1 children, all others H. A run longer than
its tree goes on with a new tree, FOREST times as long; the regret over consecutive stretches is at
most the sum of theirs. So is a run of unknown length, from a tree of FIRST rounds on.

On a ball of radius R and for linear losses this is about L·R·(1/√H + 1/N) a round, at best .549,
.428 and .350 times L·R for T = 10⁴, 10⁶, 10⁸: it falls like 1/ln T, whatever the dimension.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants
from fullswap.theorems.rows import Power, Theorem, lossless_cost

FIRST = 64
"""Rounds of the first tree where the horizon is unknown."""
FOREST = 4
"""Each further tree is so many times as long as the one before."""
EULER = 0.5772156649015329
"""γ: H_a ≤ ln a + γ + 1/(2a)."""
SUMMED = 64
"""Harmonic numbers up to here are summed, later ones bounded; the difference is below 1/12a²."""


@dataclass(frozen=True)
class Hub:
    """How a set lies around the point where all learners start."""

    radius: float
    """R: no point of the set is farther away."""
    inner_radius: float = 0.0
    """ρ: a ball of this radius around the point fits into the set, as far as is known."""
    symmetric: bool = False
    """Whether with c + x the set has c − x."""


@dataclass(frozen=True)
class Tree:
    """N levels of nodes over so many rounds; every node but the root has H children."""

    rounds: int
    levels: int
    branching: int
    shrinking: bool = False
    """Whether step i of a learner is 1/(α·i), for strongly convex losses."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rounds of a node on each level: H^(N−1), …, H, 1."""
        return tuple(self.branching ** (self.levels - 1 - k) for k in range(self.levels))

    @property
    def children(self) -> tuple[float, ...]:
        """For how many children the learners above each level plan: T/H^(N−1), H, …, H."""
        return (self.rounds / self.sizes[0], *[float(self.branching)] * (self.levels - 1))

    def rates(self, c: Constants, hub: Hub) -> tuple[float, ...]:
        """R/(L·√n) of each level, or 1/α, which is to be divided by i."""
        if self.shrinking:
            return (1 / c.strong_convexity,) * self.levels
        return tuple(hub.radius / (c.lipschitz * math.sqrt(n)) for n in self.children)


@lru_cache(maxsize=4096)
def variation(c: Constants, hub: Hub) -> float:
    """V ≥ ℓ(c) − min ℓ: the largest (L − α·s)·r − α·r²/2, see above.

    Examples
    --------
    >>> variation(Constants(4.0, 2.0, 2.0), Hub(1.0, inner_radius=1.0, symmetric=True))
    1.0
    """
    slope, bend, most = c.lipschitz, c.strong_convexity, hub.radius

    def gain(r: float) -> float:
        beyond = max(hub.inner_radius, r if hub.symmetric else 0.0)
        return slope * r - bend * r * beyond - bend * r * r / 2

    if bend <= 0.0:
        return min(slope * most, c.loss_range)
    # two parabolas that meet at r = ρ: the top of either, that point, or the end
    tops = [(slope - bend * hub.inner_radius) / bend, hub.inner_radius, most]
    if hub.symmetric:
        tops.append(slope / (3 * bend))
    return min(c.loss_range, max(gain(min(max(r, 0.0), most)) for r in tops))


def tree_cost(c: Constants, hub: Hub, tree: Tree, rounds: int) -> float:
    """Full swap regret of the first ``rounds`` rounds of a tree, at most.

    Examples
    --------
    >>> ball = Constants(lipschitz=1.0, diameter=2.0)
    >>> round(tree_cost(ball, Hub(1.0), Tree(22**3, 3, 22), 22**3) / 22**3, 3)
    0.547
    """
    if rounds <= 0:
        return 0.0
    most = variation(c, hub)
    total = most * rounds

    def learner(size: int, planned: float, played: int) -> float:
        """Reg of one learner, its children having ``size`` rounds."""
        whole, rest = divmod(played, size)
        share = rest / size
        if tree.shrinking:
            unit = c.lipschitz**2 / (2 * c.strong_convexity)
            regret = size * unit * (_harmonic(whole) + share / (whole + 1))
        else:
            root = math.sqrt(planned)
            regret = size * c.lipschitz * hub.radius / 2 * (root + (whole + share**2) / root)
        first = min(size, played)
        return min(regret, most * first + c.loss_range * (played - first))

    parents = (tree.rounds, *tree.sizes[:-1])
    for size, planned, parent in zip(tree.sizes, tree.children, parents, strict=True):
        complete, rest = divmod(rounds, parent)
        if complete:
            total += complete * learner(size, planned, parent)
        if rest:
            total += learner(size, planned, rest)
    return total / tree.levels


def _harmonic(count: int) -> float:
    """1 + ½ + … + 1/count, never too small."""
    if count <= SUMMED:
        return math.fsum(1 / i for i in range(1, count + 1))
    return math.log(count) + EULER + 1 / (2 * count)


@lru_cache(maxsize=4096)
def best_tree(c: Constants, hub: Hub, rounds: int) -> Tree:
    """The tree with the smallest bound for so many rounds.

    For each N the bound is least where all learners have about equally many children, T^(1/N).

    Examples
    --------
    >>> best_tree(Constants(lipschitz=1.0, diameter=2.0), Hub(1.0), 10**6)
    Tree(rounds=1000000, levels=4, branching=33, shrinking=False)
    """
    kinds = (False, True) if c.strong_convexity > 0 else (False,)
    trees = [
        Tree(rounds, levels, branching, shrinking)
        for levels in range(1, max(2, rounds.bit_length() + 1))
        for branching in _around(rounds ** (1 / levels))
        if levels == 1 or branching ** (levels - 1) < rounds
        for shrinking in kinds
    ]
    return min(trees, key=lambda tree: tree_cost(c, hub, tree, rounds))


def _around(value: float) -> range:
    """Whole numbers near a value, from 2 on."""
    return range(max(2, math.floor(value) - 1), max(2, math.floor(value)) + 3)


def forest(first: int) -> Iterator[tuple[int, int]]:
    """(start, rounds) of tree after tree, the first one ``first`` rounds long."""
    start, length = 0, first
    while True:
        yield start, length
        start, length = start + length, length * FOREST


@dataclass(frozen=True)
class TreeCost:
    """Trees one after the other, the first for ``first`` rounds (None: for those asked about)."""

    hub: Hub | None = None
    """None: all that is known is the diameter."""
    first: int | None = None

    def __call__(self, c: Constants, n: int, rounds: float) -> float:
        """The sum over trees of ``tree_cost``; n, the number of points, does not matter."""
        hub, played, total = self.hub or Hub(c.diameter), math.ceil(rounds), 0.0
        for start, length in forest(self.first or max(played, 1)):
            if start >= played:
                break
            total += tree_cost(c, hub, best_tree(c, hub, length), min(length, played - start))
        return total


TREE = Theorem(
    "tree", "DDFG23; PR23", "L-Lipschitz, convex losses in any dimension",
    lossless_cost, TreeCost(), Power(1, 1, slope=0), needs_convexity=True,
)  # fmt: skip
"""No row of the paper's table: what is left where grids have too many points."""


@dataclass(frozen=True)
class Planted:
    """So many rounds of one tree on a set that lies so around the start point."""

    constants: Constants
    hub: Hub
    tree: Tree
    rounds: int


TREES: tuple[Result[Any], ...] = (
    Result(
        "tree", TREE.citation,
        "L-Lipschitz, convex losses: full swap regret ≤ (1/N)·[Σ_l Σ_u Reg_u + OPT_0 − OPT_N], "
        "about L·R·T·(1/√H + 1/N)",
        Planted, lambda p: tree_cost(p.constants, p.hub, p.tree, p.rounds), best_tree,
    ),
)  # fmt: skip
"""The entry of the ledger."""
