"""The ledger of guarantees: every number that is printed as guaranteed comes from here.

One module a family of results. Each result states its premises as data, gives its bound as a
number and how to tune what is free, names its source, and is measured by a test of the same name
(``pytest.mark.theorem``). Pure arithmetic: no algorithm lives here, and constants of proofs are
written nowhere else.
"""

from typing import Any

from fullswap.theorems.anytime import ANYTIME
from fullswap.theorems.calibration import CALIBRATION
from fullswap.theorems.citations import CITATIONS
from fullswap.theorems.classwise import CLASSWISE
from fullswap.theorems.decisions import DECISIONS
from fullswap.theorems.evidence import EVIDENCE
from fullswap.theorems.groups import GROUPS
from fullswap.theorems.learning import LEARNING
from fullswap.theorems.ledger import Result, by_name
from fullswap.theorems.means import MEANS
from fullswap.theorems.nets import NETS
from fullswap.theorems.premises import Constants, Geometry
from fullswap.theorems.recalibration import RECALIBRATION
from fullswap.theorems.rows import ROWS, THEOREMS, Theorem
from fullswap.theorems.tree import TREES

LEDGER: dict[str, Result[Any]] = by_name(
    ROWS,
    NETS,
    TREES,
    LEARNING,
    ANYTIME,
    MEANS,
    CALIBRATION,
    RECALIBRATION,
    GROUPS,
    CLASSWISE,
    DECISIONS,
    EVIDENCE,
)
"""Every result by name; a new family is one module and one entry here."""

__all__ = ["CITATIONS", "LEDGER", "THEOREMS", "Constants", "Geometry", "Result", "Theorem"]
