"""What forecasters of several classes share."""

from __future__ import annotations

from typing import Any

from fullswap.base import checks
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.inputs import labels_of
from fullswap.online.classwise_growth import grown_stream
from fullswap.online.spec import MOST_CLASSES


class OfClasses(OnlineForecaster):
    """Forecasters whose outcomes may have several classes."""

    @property
    def classes(self) -> int:
        """Classes of an outcome."""
        return self.spec.classes

    def add_class(self, label: Any = None) -> None:
        """One more class, behind the others, where there are three or more.

        It begins as one that no model expected and that never happened, also for forecasts that
        wait. ``label`` is its name, where classes have names.
        """
        checks.whole("classes", self.classes, 3)
        labels = self._labels
        if (labels is None) != (label is None):
            checks.refuse("label", "be given exactly where classes have names", label)
        checks.whole("classes", self.classes + 1, 3, MOST_CLASSES)
        if labels is not None:
            labels = labels_of((*labels, label), 3, MOST_CLASSES)[1]
        self._stream = grown_stream(self._stream)
        self._spec, self._labels = self._stream.kind.spec, labels
