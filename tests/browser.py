"""A browser for tests of pages, where the machine has one."""

import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium_path():
    """Path of Chromium, from FULLSWAP_CHROMIUM or by name; None without one."""
    named = os.environ.get("FULLSWAP_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium():
    """A running Chromium; the test is skipped if there is none."""
    path = chromium_path()
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} found, FULLSWAP_CHROMIUM not set")
    sync = pytest.importorskip("playwright.sync_api", reason="no playwright to drive a browser")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
