"""The demonstration: a model of tomorrow's rain is checked, recalibrated and watched."""

from fullswap.demo.tour import Tour

__all__ = ["Tour"]
