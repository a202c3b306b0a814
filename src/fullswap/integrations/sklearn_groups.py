"""Groups of rows that come through scikit-learn: as metadata, as columns of X, by a function."""

from __future__ import annotations

from typing import Any

from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from fullswap.base import checks
from fullswap.integrations.group_input import Names, check_room, names_of


def names_in(X: Any, where: Any, groups: Any) -> Names | None:
    """The groups of each row of X; None if nobody says anything of groups.

    ``where``: a column, several, or a function of X, as the classifier was made with; None: the
    groups themselves are given.
    """
    if where is None:
        return None if groups is None else names_of(groups, _num_samples(X))
    if groups is not None:
        checks.refuse("groups", "be left out: the classifier was told where they are", groups)
    if callable(where):
        return names_of(where(X), _num_samples(X))
    return names_of({str(name): _column(X, name) for name in _listed(where)}, _num_samples(X))


def without_groups(X: Any, where: Any) -> Any:
    """X without the columns that say to which groups a row belongs."""
    if where is None or callable(where):
        return X
    width = X.shape[1]
    gone = {width + name if checks.is_whole(name) and name < 0 else name for name in _listed(where)}
    if any(checks.is_whole(name) for name in gone):
        kept: list[Any] = [place for place in range(width) if place not in gone]
    else:
        kept = [name for name in X.columns if name not in gone]
    return _safe_indexing(X, kept, axis=1)


def check_groups(groups: Names | None, classes: int, known: tuple[Any, ...] | None) -> None:
    """Refuse groups that the recalibrator would not take, before the estimator learns.

    ``known``: names of its groups; None if it was made without.
    """
    if groups is None:
        return
    if classes != 2:
        checks.refuse("groups", "be left out for more than two classes", f"{classes} classes")
    if known is None:
        rule = "be given in the first fit or partial_fit, or never"
        checks.refuse("groups", rule, "them for a classifier that has learnt without")
    check_room(known, groups)


def _listed(where: Any) -> list[Any]:
    one = isinstance(where, str | bytes) or not hasattr(where, "__iter__")
    return [where] if one else list(where)


def _column(X: Any, name: Any) -> Any:
    if isinstance(name, bool) or not (isinstance(name, str) or checks.is_whole(name)):
        checks.refuse("groups", "be names or numbers of columns of X, or a function of it", name)
    try:
        column = _safe_indexing(X, name, axis=1)
    except (ValueError, IndexError, KeyError) as error:
        raise ValueError(f"groups must be columns of X, got {name!r} ({error})") from error
    return column.toarray()[:, 0] if hasattr(column, "toarray") else column
