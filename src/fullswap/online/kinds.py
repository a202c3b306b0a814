"""The kind behind a spec; kinds are shared by all forecasters and banks of a spec."""

from __future__ import annotations

from functools import lru_cache

from fullswap.online.kind import Kind
from fullswap.online.spec import Spec


@lru_cache(maxsize=256)
def kind_of(spec: Spec) -> Kind:
    """The kind that plays this spec."""
    # kernels compile on first use: each kind imports only its own
    if spec.kind == "line":
        from fullswap.online.line import Line

        return Line(spec)
    if spec.kind == "experts":
        from fullswap.online.experts import Experts

        return Experts(spec)
    if spec.kind == "groups":
        from fullswap.online.experts_groups import GroupExperts

        return GroupExperts(spec)
    from fullswap.online.classwise import Classwise

    return Classwise(spec)
