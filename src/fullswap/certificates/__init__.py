"""Measured against guaranteed, for one run: in points, in sums, in words, and for decisions."""

from fullswap.certificates.certificate import Certificate
from fullswap.certificates.decisions import Decision, Table
from fullswap.certificates.quantities import Quantity, Subject

__all__ = ["Certificate", "Decision", "Quantity", "Subject", "Table"]
