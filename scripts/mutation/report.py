"""What came of a lesson's mutants: shares, survivors, and the reasons why some of these are equivalent."""

import collections
import datetime
import json
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"
REASONS = RESULTS / "mutation_equivalent.json"
ENOUGH_PERCENT = 95
VERDICTS = ("killed", "survived", "same code", "does not compile", "not judged")

def result_file(lesson):
    return RESULTS / f"{lesson[:2]}_mutation.json"


def read_reasons(lesson):
    """{(where, line, becomes): why}"""
    if not REASONS.exists():
        return {}
    entries = json.loads(REASONS.read_text(encoding="utf-8")).get(lesson, [])
    return {(entry["where"], entry["line"], becomes): entry["why"] for entry in entries for becomes in entry["becomes"]}


def percent(part, whole):
    return round(100 * part / whole, 1) if whole else 100.0


def row_of(mutant):
    return {"line_number": mutant.line_number, "operator": mutant.operator, "change": mutant.change,
            "where": mutant.where, "line": mutant.line, "becomes": mutant.becomes}  # fmt: skip


def key_of(row):
    return row["where"], row["line"], row["becomes"]


def summarise(lesson, mutants, complete, seconds):
    counts = collections.Counter(mutant.verdict for mutant in mutants)
    operators = collections.defaultdict(collections.Counter)
    for mutant in mutants:
        operators[mutant.operator][mutant.verdict] += 1
    return {
        "lesson": lesson,
        "command": f"scripts/mutation_run.py {lesson[:2]}",
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "complete": complete,
        "seconds": round(seconds),
        "mutants": sum(counts[verdict] for verdict in VERDICTS),
        "not_counted": {verdict: counts[verdict] for verdict in ("does not compile", "same code")},
        "judged": counts["killed"] + counts["survived"],
        "killed": counts["killed"],
        "killed_by": dict(collections.Counter(mutant.by for mutant in mutants if mutant.verdict == "killed")),
        "operators": {
            name: {"killed": row["killed"], "survived": row["survived"]}
            for name, row in sorted(operators.items()) if row["killed"] + row["survived"]
        },
        "survivors": [row_of(mutant) for mutant in mutants if mutant.verdict == "survived"],
        "not_judged": [row_of(mutant) | {"why": mutant.by} for mutant in mutants if mutant.verdict == "not judged"],
    }  # fmt: skip


def merged(last, again):
    """The last result, with what its survivors did this time."""
    result = last | {key: again[key] for key in ("survivors", "not_judged")}
    result["killed"] += again["killed"]
    result["judged"] = result["killed"] + len(again["survivors"])
    result["survivors_judged_again"] = again["date"]
    for by, count in again["killed_by"].items():
        result["killed_by"][by] = result["killed_by"].get(by, 0) + count
    for name, row in again["operators"].items():
        known = result["operators"].setdefault(name, {"killed": 0, "survived": 0})
        known["killed"] += row["killed"]
        known["survived"] = row["survived"]
    return result


def explain_survivors(result, reasons):
    """Fills in which survivors are equivalent, and the shares that follow from it."""
    for row in result["survivors"]:
        row["equivalent"] = reasons.get(key_of(row))
    judged, killed = result["judged"], result["killed"]
    result["equivalent"] = sum(row["equivalent"] is not None for row in result["survivors"])
    result["killed_percent_of_judged"] = percent(killed, judged)
    result["killed_percent_of_not_equivalent"] = percent(killed, judged - result["equivalent"])


def written(result):
    """JSON with one line for each operator and survivor."""
    lists = ("operators", "survivors", "not_judged")
    head = {key: value for key, value in result.items() if key not in lists}
    text = json.dumps(head, indent=2)[:-2]
    operators = [f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in result["operators"].items()]
    text += ',\n  "operators": {\n' + ",\n".join(operators) + "\n  }"
    for name in lists[1:]:
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in result[name])
        text += f',\n  "{name}": [' + (f"\n{rows}\n  " if rows else "") + "]"
    return text + "\n}\n"


def print_report(result, reasons):
    part = f" of {result['drawn_from']}" if "drawn_from" in result else ""
    print(f"\n{result['lesson']}: {result['mutants']}{part} mutants in {result['seconds']} s, {result['date']}")
    for verdict, count in result["not_counted"].items():
        print(f"{count:5}  {'same code as the solution or an earlier mutant' if verdict == 'same code' else verdict}")
    print(f"\n{'operator':16} killed  survived")
    for name, row in result["operators"].items():
        print(f"{name:16} {row['killed']:6}  {row['survived']:8}")
    print(f"{'all':16} {result['killed']:6}  {result['judged'] - result['killed']:8}")
    holes = [row for row in result["survivors"] if row["equivalent"] is None]
    if holes:
        print("\nNo test notices, and no reason says why none should:")
    for row in holes:
        print(f"  L{row['line_number']} {row['change']}, in {row['where']}:")
        print(f"    - {row['line']}\n    + {row['becomes']}")
    for row in result["not_judged"]:
        print(f"  not judged: L{row['line_number']} {row['change']}: {row['why']}")
    survived = {key_of(row) for row in result["survivors"]}
    for where, line, becomes in reasons if result["complete"] and not part else ():
        if (where, line, becomes) not in survived:
            print(f"  a reason that no survivor needs: {where}: {line} => {becomes}")
    print(f"\nkilled: {result['killed']} of {result['judged']} ({result['killed_percent_of_judged']} %); "
          f"{result['equivalent']} survivors are equivalent: "
          f"{result['killed_percent_of_not_equivalent']} % of the others")  # fmt: skip


def is_enough(result):
    return result["killed_percent_of_not_equivalent"] >= ENOUGH_PERCENT and not result["not_judged"]
