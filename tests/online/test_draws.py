"""Draws without a generator: numpy's own Philox, and seeds and streams that do not meet."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator, Philox

from fullswap.base.draws import ALONE, Draws, seed_of, stream_of, words
from fullswap.kernels.philox import block, lane
from online.verbs import uniform

numbers = st.integers(0, 2**128 - 1)


def source(seed, stream):
    return np.array([*words(stream), *words(seed)], dtype=np.uint64)


@given(numbers, numbers, st.integers(0, 2**40), st.integers(1, 20))
def test_draws_are_those_of_numpys_philox(seed, stream, number, count):
    """numpy counts up before its first block, so its counter starts one block earlier."""
    own = [uniform(seed, stream, number + k) for k in range(count)]
    counter = ((stream << 128) + number // 4 - 1) % 2**256
    theirs = Generator(Philox(key=seed, counter=counter)).random(count + number % 4)
    assert own == theirs[number % 4 :].tolist()


def test_one_generator_gives_the_draws_of_a_stream_from_id_four_on():
    own = [uniform(7, 9, 4 + k) for k in range(1000)]
    assert own == Generator(Philox(key=7, counter=9 << 128)).random(1000).tolist()


@given(numbers, numbers, st.integers(0, 2**40))
def test_blocks_and_lanes_are_those_of_the_published_rounds(seed, stream, number):
    """Ten rounds of multiplications and key steps, in whole numbers of any length."""
    mask = 2**64 - 1
    c = [number, 0, stream & mask, stream >> 64]
    k = [seed & mask, seed >> 64]
    for _ in range(10):
        one, two = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(two >> 64) ^ c[1] ^ k[0], two & mask, (one >> 64) ^ c[3] ^ k[1], one & mask]
        k = [(k[0] + 0x9E3779B97F4A7C15) & mask, (k[1] + 0xBB67AE8584CAA73B) & mask]
    fast = tuple(np.uint64(word) for word in block(number, *source(seed, stream)))
    assert [int(word) for word in fast] == c
    for place in range(4):
        assert lane(fast, 4 * number + place) == (c[place] >> 11) / 2**53


@given(numbers, numbers, st.permutations(range(40)))
def test_draws_do_not_depend_on_the_order_in_which_they_are_asked_for(seed, stream, order):
    asked = {number: uniform(seed, stream, number) for number in order}
    in_order = [uniform(seed, stream, number) for number in range(40)]
    assert [asked[number] for number in range(40)] == in_order
    assert all(0 <= u < 1 for u in in_order) and len(set(in_order)) == 40


def test_seeds_and_streams():
    assert seed_of(3) == seed_of(np.int64(3)) != seed_of(4)
    assert len({seed_of(None) for _ in range(50)}) == 50
    one, two = np.random.default_rng(1), np.random.default_rng(1)
    assert seed_of(one) == seed_of(two) != seed_of(one)
    assert 0 <= seed_of(10**60) < 2**128
    # the draws of a seed are not those of numpy's generator of the same seed
    assert uniform(seed_of(1), ALONE, 0) != np.random.default_rng(1).random()
    assert uniform(seed_of(1), ALONE, 5) != uniform(seed_of(1), stream_of("a"), 5)
    assert Draws(seed_of(1)).stream == ALONE


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, [1], np.random])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed must be a whole number >= 0, None or"):
        seed_of(seed)


def test_keys_that_are_equal_have_one_stream_and_others_their_own():
    assert stream_of(1) == stream_of(1.0) == stream_of(np.int8(1)) == stream_of(True)
    different = ["1", 1, b"1", ("1",), (1,), ("1", ""), ("", "1"), ("1", 1), 1.5, "", (), ((1,),)]
    assert len({stream_of(key) for key in different}) == len(different)
    for wrong in (None, float("nan"), [1], {"a": 1}, object()):
        with pytest.raises(ValueError, match="key must be"):
            stream_of(wrong)


def test_uniform_over_ids_and_over_streams():
    """Means and spreads by id and by stream, within five deviations."""
    by_id = np.array([uniform(5, 6, k) for k in range(5000)])
    by_stream = np.array([uniform(5, stream_of(k), 0) for k in range(5000)])
    for sample in (by_id, by_stream):
        assert abs(sample.mean() - 0.5) < 5 * np.sqrt(1 / 12 / len(sample))
        assert abs(sample.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / len(sample))
