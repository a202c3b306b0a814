"""A service in a temporary folder that does everything once, so that its loops are compiled."""

from __future__ import annotations

import tempfile
from typing import Any

from fullswap.service.messages import ForecastItem, OutcomeItem, SpecBody
from fullswap.service.service import Service

THREE = [0.2, 0.3, 0.5]
KINDS: dict[str, tuple[SpecBody, Any]] = {
    "default": (SpecBody(), 0.3),
    "steps": (SpecBody(step="5%"), 0.3),
    "alone": (SpecBody(forecaster="forecaster"), None),
    "three": (SpecBody(classes=3), THREE),
    "bare": (SpecBody(forecaster="multiclass", classes=3), None),
    "groups": (SpecBody(groups=["a", "b"]), 0.3),
}
"""Kinds of streams, and what a model says of their events."""
EVENTS = 24
"""Of a stream: more than fit the short form of what is watched."""


def rehearse() -> None:
    """Forecast, learn, stop and start again."""
    with tempfile.TemporaryDirectory(prefix="fullswap-") as folder:
        service = Service.open(folder)
        try:
            for name, (body, p) in KINDS.items():
                service.ask(lambda engine, n=name, b=body: engine.put_spec(n, b)).result()  # type: ignore[misc]
                asked: list[Any] = [
                    ForecastItem(name, name, p=p, event=str(k // 2)) for k in range(EVENTS)
                ]
                service.forecasts(asked).result()
                told: list[Any] = [
                    OutcomeItem(k % 2, event=str(k), stream=name) for k in range(EVENTS // 2)
                ]
                service.outcomes(told).result()
                (made,) = service.forecasts([ForecastItem(name, name, p=p)]).result()
                service.outcomes([OutcomeItem(1, made.id)]).result()  # type: ignore[union-attr]
            service.ask(lambda engine: engine.streams()).result()
        finally:
            service.close()
        Service.open(folder).close()
