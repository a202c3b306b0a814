"""Run by a test in a process of its own, which is killed at some moment."""

import sys

from fullswap.replay import ReplaySettings, replay_file

ROLES = {"y": ["rained"], "p": ["p"], "time": "at", "key": "station", "resolved": "known_at"}

if __name__ == "__main__":
    log, out, state, chunk = sys.argv[1:]
    print("ready", flush=True)
    replay_file(log, ROLES, ReplaySettings(), out=out, state=state, chunk=int(chunk))
    print("done", flush=True)
