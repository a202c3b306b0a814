"""``python -m studies.report SUMMARY FOLDER``: the page and its pictures, from a summary."""

import json
import sys
from pathlib import Path

from studies.report.page import publish

if __name__ == "__main__":
    source, folder = sys.argv[1:]
    publish(json.loads(Path(source).read_text(encoding="utf-8")), Path(folder))
