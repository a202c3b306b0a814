"""Draws without a generator: a uniform number for every (seed, stream, id), in any order.

Philox4x64-10 (Salmon, Moraes, Dror, Shaw, Parallel random numbers, SC 2011), as in numpy: the
block with counter (id div 4, 0, stream) under the key that is the seed holds the draws of four
ids. So ``Generator(Philox(key=seed, counter=stream << 128))`` gives the draws of a stream one
after the other, from id 4 on, because numpy counts up before its first block.

Symbols: key = (k0, k1) of the seed, stream = (s0, s1), all unsigned 64-bit words, low words first.
"""

import llvmlite.ir as ir
import numpy as np
from numba import types
from numba.extending import intrinsic

from fullswap.kernels.compiling import kernel

MULTIPLIER_0, MULTIPLIER_1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
WEYL_0, WEYL_1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
UNIT = 2.0**-53
"""Draws are multiples of this: 53 bits of a word."""


@intrinsic
def _product(typing_context, a, b):
    """High and low word of the 128-bit product of two words."""

    def build(context, builder, signature, arguments):
        wide, word = ir.IntType(128), ir.IntType(64)
        left, right = (builder.zext(value, wide) for value in arguments)
        product = builder.mul(left, right)
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)
        low = builder.trunc(product, word)
        return context.make_tuple(builder, signature.return_type, (high, low))

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), build


@kernel(forceinline=True)
def block(number, s0, s1, k0, k1):
    """The four words of one block."""
    c0, c1, c2, c3 = np.uint64(number), np.uint64(0), s0, s1
    for _ in range(10):
        high_0, low_0 = _product(MULTIPLIER_0, c0)
        high_1, low_1 = _product(MULTIPLIER_1, c2)
        c0, c1, c2, c3 = high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0
        k0 += WEYL_0
        k1 += WEYL_1
    return c0, c1, c2, c3


@kernel(forceinline=True)
def lane(words, number):
    """The uniform draw in [0, 1) of the id ``number`` in its block."""
    place = number & 3
    if place == 0:
        bits = words[0]
    elif place == 1:
        bits = words[1]
    elif place == 2:
        bits = words[2]
    else:
        bits = words[3]
    return np.float64(bits >> np.uint64(11)) * UNIT


@kernel
def uniform(source, number):
    """The draw of this id in [0, 1); source (4,) = (s0, s1, k0, k1)."""
    return lane(block(number >> 2, source[0], source[1], source[2], source[3]), number)
