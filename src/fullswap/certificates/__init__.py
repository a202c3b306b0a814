"""Measured against guaranteed, for one run: in points, in sums, in words, and for decisions."""

from fullswap.certificates.by_group import EVERYBODY, GroupRow, GroupTable
from fullswap.certificates.certificate import Certificate
from fullswap.certificates.decisions import Decision, Table
from fullswap.certificates.quantities import Quantity, Subject

__all__ = [
    "EVERYBODY",
    "Certificate",
    "Decision",
    "GroupRow",
    "GroupTable",
    "Quantity",
    "Subject",
    "Table",
]
