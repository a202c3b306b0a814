"""Logs replayed as it would have happened: no outcome is used before it was known."""

from fullswap.replay.answer import Replayed
from fullswap.replay.files import replay_file
from fullswap.replay.settings import ReplaySettings

__all__ = ["ReplaySettings", "Replayed", "replay_file"]
