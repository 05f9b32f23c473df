#!/bin/sh
# judgekeeper's own judge, three runs, its table check and its export: sh judgekeeper.sh BIN URL (in an empty folder)
set -eu
here=$(dirname "$(realpath "$0")")
python3 - "$here/items.json" <<'P'
import csv, json, sys
with open("labels.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["id", "input", "output", "human_label", "notes"])
    for item in json.load(open(sys.argv[1])):
        for model, answer in item["answers"].items():
            out.writerow([f"{item['id']}-{model}", item["question"], answer, item["human"][model], ""])
P
cat > judge.md <<'P'
---
rubric_version: correct-v1
---
Is the response correct and to the point?

# Instruction
{{input}}

# Response
{{output}}

Explain your reasoning in a few sentences. Then end your reply with exactly one line, either `Verdict: pass` or `Verdict: fail`.
P
"$1" import-labels labels.csv -o anchors.jsonl
JUDGE_URL=$2 "$1" judge anchors.jsonl --exec "python3 $here/judgekeeper_exec.py" --model sim-unreadable --prompt judge.md --temperature 1 --runs 3 --workers 2 --out runs/
"$1" validate anchors.jsonl runs/ --out report/ || true
"$1" export records runs/ --anchors anchors.jsonl -o records.jsonl
