"""`python -m fullswap`: the command `fullswap`."""

from fullswap.cli import main

if __name__ == "__main__":
    main()
