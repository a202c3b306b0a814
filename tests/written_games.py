"""Game files written from the rules of the games, as people and programs write them."""

CARDS = ("Jack", "Queen", "King")


def kuhn_poker():
    """Three cards, an ante of 1 and one bet of 1: fractions, nested lines, a set for each card."""
    deals = [(a, b) for a in range(3) for b in range(3) if a != b]
    chances = " ".join(f'"{CARDS[a]} {CARDS[b]}" 1/6' for a, b in deals)
    lines = [
        'EFG 2 R "Kuhn poker" { "Ann" "Bob" }',
        '"antes of 1"',
        f'c "ROOT" 1 "" {{ {chances} }} 0',
    ]
    outcomes = {}

    def end(value):
        number = outcomes.setdefault(value, len(outcomes) + 1)
        return f't "" {number} "{value:+d}" {{ {value}.0, {-value}.0 }}'

    for a, b in deals:
        won = 1 if a > b else -1
        lines += [
            f'  p "" 1 {1 + a} "{CARDS[a]}" {{ "pass" "bet" }} 0',
            f'    p "" 2 {1 + b} "{CARDS[b]} after a pass" {{ "pass" "bet" }} 0',
            f"      {end(won)}",
            f'      p "" 1 {4 + a} "{CARDS[a]} after a bet" {{ "fold" "call" }} 0',
            f"        {end(-1)}",
            f"        {end(2 * won)}",
            f'    p "" 2 {4 + b} "{CARDS[b]} after a bet" {{ "fold" "call" }} 0',
            f"      {end(1)}",
            f"      {end(2 * won)}",
        ]
    return "\n".join(lines) + "\n"


TAKEN = ((0.8, 0.2), (0.4, 1.6), (3.2, 0.8), (1.6, 6.4), (12.8, 3.2))
"""Centipede: what both have if the first, second, … move takes, and if none does."""
ALTRUIST = 0.05
"""How often the second player passes whatever happens."""


def centipede_tree():
    """Two moves each, and a chance of a second player who passes always; sets without names."""

    def end(k):
        return f't "" {k + 1} "" {{ {TAKEN[k][0]}, {TAKEN[k][1]} }}'

    moves = [
        'p "" 1 1 { "take" "pass" } 0', end(0), 'p "" 2 1 { "take" "pass" } 0', end(1),
        'p "" 1 2 { "take" "pass" } 0', end(2), 'p "" 2 2 { "take" "pass" } 0', end(3), end(4),
    ]  # fmt: skip
    passes = [
        'p "" 1 1 { "take" "pass" } 0', end(0), 'p "" 1 2 { "take" "pass" } 0', end(2), end(4),
    ]  # fmt: skip
    head = ['EFG 2 R "Centipede" { "Ann" "Bob" }', 'c "" 1 "" { "as usual" .95 "altruist" 5e-2 } 0']
    return "\n".join([*head, *moves, *passes])


def centipede_table():
    """The same by strategies: take at once, take at the second move, never; three decimals."""

    def taken(first, second):
        return TAKEN[min(2 * first, 2 * second + 1, 4)]

    numbers = []
    for second in range(3):
        for first in range(3):  # the first player's strategies change fastest
            usual, altruist = taken(first, second), taken(first, 2)
            pairs = zip(usual, altruist, strict=True)
            numbers += [f"{(1 - ALTRUIST) * u + ALTRUIST * a:.3f}" for u, a in pairs]
    return 'NFG 1 R "Centipede" { "Ann" "Bob" } { 3 3 }\n' + " ".join(numbers) + "\n"


def jury():
    """Three jurors with private signals, right two times in three; they convict by majority."""
    lines = [
        'EFG 2 R "Jury" { "Ann" "Bob" "Cleo" } ""',
        'c "" 1 "" { "guilty" 1/2 "innocent" 1/2 } 0',
    ]
    for guilty in (True, False):
        right = ["2/3", "1/3"] if guilty else ["1/3", "2/3"]
        number = 2 if guilty else 3
        signal = f'{{ "looks guilty" {right[0]} "looks innocent" {right[1]} }} 0'

        def voters(player, votes, number=number, signal=signal, guilty=guilty):
            if player > 3:
                good = (sum(votes) >= 2) == guilty
                return [f't "" {1 if good else 2} "" {{ {int(good)} {int(good)} {int(good)} }}']
            lines = [f'c "" {10 * player + number} "" {signal}']
            for place in (1, 2):
                lines.append(f'p "" {player} {place} "" {{ "convict" "acquit" }} 0')
                for vote in (1, 0):
                    lines += voters(player + 1, (*votes, vote))
            return lines

        lines += voters(1, ())
    return "\n".join(lines)


PENNIES_TWICE = """EFG 2 D "Pennies, twice, paid each time" { "Ann" "Bob" }
p "" 1 1 "" { "H" "T" } 0
p "" 2 1 "" { "H" "T" } 0
p "" 1 2 "" { "H" "T" } 1 "same" { 1, -1 }
p "" 2 2 "" { "H" "T" } 0
t "" 1
t "" 2 "other" { -1, 1 }
p "" 2 2 0
t "" 2
t "" 1
t "" 2
p "" 2 1 0
t "" 2
t "" 1
"""
THREE_PLAYERS = 'NFG 1 R "Odd one out" {"a" "b" "c"} {2 2 2} "loses" ' + " ".join(
    ["0 0 0", "-1 1/2 .5", "1/2 -1 .5", "5e-1 0.5 -1.0"]
    + ["1/2 1/2 -1", "0.5 -1 1/2", "-1 .5 .5", "0 0 0"]
)
FILES = {
    "kuhn_poker.efg": kuhn_poker(),
    "centipede.efg": centipede_tree(),
    "centipede.nfg": centipede_table(),
    "jury.efg": jury(),
    "pennies_twice.efg": PENNIES_TWICE,
    "odd_one_out.nfg": THREE_PLAYERS,
}
"""By name."""


def write(folder, name):
    """The path of this file in a folder, where it is written."""
    path = folder / name
    path.write_text(FILES[name], encoding="utf-8")
    return path
