"""Write docs/results.schema.json from the types of the records."""

import json
from pathlib import Path

from judgestats.results import json_schema

PAGE = Path(__file__).parent / "results.schema.json"

if __name__ == "__main__":
    text = json.dumps(json_schema(), indent=1, ensure_ascii=False)
    PAGE.write_text(text + "\n", encoding="utf-8", newline="\n")
