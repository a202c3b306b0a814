"""Rows and plays of many classes that come from outside, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.kernels import classes_advice as advice
from fullswap.kernels import classwise as kernel
from fullswap.kernels.columns import HEAD, MASS
from fullswap.online.classwise_plays import heights_of
from fullswap.online.expert_rows import MOST_PARAMETER
from fullswap.online.kind import MEAN_SLACK, SLACK, slack_of

if TYPE_CHECKING:
    from fullswap.online.classwise import Classwise


def check_play(nodes: Vector, marks: Vector, vectors: Points, models: int) -> None:
    """Marks, then rows: a vector, offsets of both bins, what models said.

    The gap may not be less than that of these offsets: a certificate adds it up.
    """
    classes = vectors.shape[1]
    declared, gap = marks
    if not (float(declared).is_integer() and 0 <= declared < classes and 0 <= gap <= 4):
        raise ValueError("play must declare a class and have a gap, got others")
    check_vectors(vectors[:1])
    if not (np.abs(vectors[1:3]) <= 1 + SLACK).all():
        raise ValueError("play must hold offsets of at most 1, got others")
    x, low, high = vectors[:3]
    heights = heights_of(nodes, x, low, high)
    if not (abs(x.sum() - 1) <= SLACK and 2 * (heights.max() - x @ heights) <= gap + SLACK):
        raise ValueError("play must be a vector of sum 1 with its gap, got another")
    said = vectors[3:]
    present = ~np.isnan(said).any(axis=1)
    if models and not (present.any() and (present.all() or models > 1)):
        raise ValueError("play must hold what models said, got no model")
    check_vectors(said[present])


def check_vectors(vectors: Points) -> None:
    """Rows of probabilities that sum to 1, up to rounding of running means."""
    sums = vectors.sum(axis=-1)
    if not ((vectors >= -SLACK).all() and (np.abs(sums - 1) <= MEAN_SLACK).all()):
        raise ValueError("play must hold probabilities that sum to 1, got others")


def check_classwise(kind: Classwise, row: Vector) -> None:
    """Refuse what classes, bins and advice of a stream cannot come to."""
    if not (_check_bins(kind, row) and _check_advice(kind, row)):
        raise ValueError("row must be what a stream can come to: its classes do not agree")


def top_of(bins: Points) -> Points:
    """Weight, error and chance over events in which the class was declared."""
    return bins[kernel.TOP_WEIGHT : kernel.TOP_CHANCE + 1]


def rest_of(bins: Points) -> Points:
    """The same over the other events."""
    return bins[kernel.REST_WEIGHT : kernel.REST_CHANCE + 1]


def _check_bins(kind: Classwise, row: Vector) -> bool:
    columns, bins, slack = kind.point_columns(row), kind.bins(row), slack_of(row)
    mass, weights = row[MASS], columns[:, : kernel.CLASS_HEAD]
    shares = bins[kernel.SHARE_ALL : kernel.SHARE_REST + 1]
    sound = (
        (weights > 0).all()
        and (np.abs(weights.sum(axis=1) - 1) <= SLACK).all()
        and (shares > 0).all()
        and (np.abs(shares.sum(axis=0) - 1) <= SLACK).all()
    )
    total = np.zeros(kind.spec.classes)
    for weight, error, chance in (top_of(bins), rest_of(bins)):
        sound = sound and bool((weight >= 0).all() and (chance >= 0).all())
        total += weight.sum(axis=1)
        sound = sound and bool(
            (np.abs(error) <= weight * (1 + SLACK) + slack).all()
            and (chance <= weight / 4 + slack).all()
        )
    return bool(
        sound
        and (np.abs(total - mass) <= slack).all()
        and (np.abs(_offsets(bins) - bins[kernel.OFFSET]) <= MEAN_SLACK).all()
        and np.abs(bins[kernel.TOP_WEIGHT].sum() - mass) <= slack  # one class an event is declared
    )


def _offsets(bins: Points) -> Points:
    """What bins recommend to classes that are not declared."""
    every = (bins[kernel.TOP_ERROR] + bins[kernel.REST_ERROR]) / (
        bins[kernel.TOP_WEIGHT] + bins[kernel.REST_WEIGHT] + 1
    )
    rest = bins[kernel.REST_ERROR] / (bins[kernel.REST_WEIGHT] + 1)
    share, other = bins[kernel.SHARE_ALL], bins[kernel.SHARE_REST]
    offsets: Points = (share * every + other * rest) / (share + other)
    return offsets


def _check_advice(kind: Classwise, row: Vector) -> bool:
    totals = row[HEAD : HEAD + kernel.TOTALS]
    slack, mass, classes = slack_of(row), row[MASS], kind.spec.classes
    beliefs = row[kind.base - kind._beliefs.size : kind.base].reshape(kind._beliefs.shape)
    sound = (
        kind._check_mix(row)
        and 0 <= totals[kernel.PLAYED_LOSS] <= 2 * (mass + slack)
        and 0 <= totals[kernel.GAPS] <= 4 * (mass + slack)
        and -MEAN_SLACK * (1 + mass) <= totals[kernel.PAID] <= 8 * classes * (mass + slack)
    )
    if not kind.spec.models:
        counts = beliefs.reshape(2, classes)
        return bool(
            sound
            and (counts >= 0).all()
            and counts[1].sum() <= counts[0].sum() + slack
            and counts[0].sum() <= mass + slack
        )
    known = beliefs[:, advice.SCALING + classes + 1 :]
    places = [advice.SLOPE, advice.FORGETTING, *range(advice.SCALING, advice.SCALING + classes + 1)]
    slopes = beliefs[:, [advice.SLOPE + 1, advice.FORGETTING + 1]]
    return bool(
        sound
        and (np.abs(beliefs[:, places]) <= MOST_PARAMETER).all()
        and (slopes >= 0.5 / advice.SLOPE_VARIANCE).all()
        and (known >= 0.5).all()
        and max(slopes.max(), known.max())
        <= 1 / advice.BIAS_VARIANCE + advice.LARGEST_LOG**2 * (mass + slack)
    )
