"""Rows as bytes and by name: what is written comes back to the last bit, or is refused."""

import json

import numpy as np
import pytest

from contract.makers import MAKERS, kind_behind, row_of
from fullswap.online import codec


@pytest.fixture(params=MAKERS)
def case(request):
    maker = MAKERS[request.param]
    forecaster = maker(seed=1)
    maker.log(120, 2).run(forecaster, record=False)
    return kind_behind(forecaster), row_of(forecaster)


def test_bytes_and_names_come_back(case):
    kind, row = case
    np.testing.assert_array_equal(codec.from_bytes(kind, codec.to_bytes(row)), row)
    named = json.loads(json.dumps(codec.to_dict(kind, row)))
    np.testing.assert_array_equal(codec.from_dict(kind, named), row)
    assert named["rounds"] == 120 and len(named["points"]["value"]) == len(kind.point_columns(row))
    assert len(codec.to_bytes(row)) == 8 + 8 * len(row)


def test_what_is_damaged_is_refused(case):
    kind, row = case
    content, named = codec.to_bytes(row), codec.to_dict(kind, row)
    spoilt = row.copy()
    spoilt[4] = -1.0  # the mass
    other_version = content[:5] + b"\x07" + content[6:]
    for wrong in (
        content[:-8], content[:-3], b"", content + content[8:], b"x" + content[1:], "text",
        other_version, codec.to_bytes(spoilt),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="row must"):
            codec.from_bytes(kind, wrong)
    changes = [{"version": 1}, {"mass": "x"}, {"mass": -1.0}, {"points": {}}, {"rounds": None}]
    changes += [{"shared": 3}] if kind.shared_columns else []
    for wrong in ({}, None, [], *({**named, **change} for change in changes)):
        with pytest.raises(ValueError, match="row must"):
            codec.from_dict(kind, wrong)
