"""Clients of a service that `fullswap serve` runs.

``Client`` needs nothing but Python; ``AsyncClient`` needs httpx, from ``fullswap[client]``. Both
make the ids of forecasts themselves, and repeat what got no answer with the same ids: the
service does nothing twice.
"""

from __future__ import annotations

from fullswap.client.answers import ItemError, ServedForecast, ServiceError, SettledOutcome
from fullswap.client.asynchronous import AsyncClient
from fullswap.client.synchronous import Client

__all__ = ["AsyncClient", "Client", "ItemError", "ServedForecast", "ServiceError", "SettledOutcome"]
