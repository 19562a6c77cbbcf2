#!/usr/bin/env python3
"""Makes up a class: students of many names, who hand in solutions, mistakes, attacks, or nothing at all.

    scripts/make_class.py OUT [--students N] [--lessons 1-18] [--seed N] [--hostile FRACTION] [--tricks A,B]
                              [--variety N]

OUT becomes a folder for `./course grade`; OUT.expected.json says what must come out for each student and lesson, graded
with the deadline that it names:

    standing   graded, not_compiled, refused or missing
    points     "all points"; "some points lost", maybe all of them; or "none"
    late       whether the file is late
    says       words that the student must get about this lesson

Files are the stubs, solutions, alternatives and mutants of the lessons, and those of tests/grading/hostile for
FRACTION of the students. The same arguments give the same class.

Exit status: 0, or 2 for wrong usage, or 3 if a mutant does not fit its solution.
"""

import collections
import dataclasses
import datetime
import json
import os
import pathlib
import random
import re
import sys
import zipfile

from edits import Unfit, hostile_files, read_edits, with_edits
from options import Parser
from solution_page import page_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEADLINE = datetime.datetime(2026, 11, 20, 18, 0)  # local time, as the file times
ALL, LOST, NONE = "all points", "some points lost", "none"

# Of 100 files that are expected. "misnamed" is under a name that no lesson has.
SHARES = {"solution": 42, "alternative": 30, "mutant": 12, "stub": 3, "broken": 3, "empty": 1, "misnamed": 1,
          "missing": 8}  # fmt: skip
LATE_SHARE = TWO_VERSIONS_SHARE = 0.08

# What a spreadsheet, a terminal, a page or a file system could trip over. The first two are in every class.
ODD_NAMES = ["=cmd|' \\C calc'!A0", "Line\nFeed", "<img src=x onerror=alert(1)>", "index.html", 'Ode, Ben "B"; 1',
             "-2+3", "a|b `c` *d*", "%2e%2e"]  # fmt: skip
GIVEN_AND_FAMILY = [
    ("Ana Berit Carla Dario Elin Farid Greta Hugo Ida Jonas Kaja Leif", "Lima Moreau Novak Okafor Pinto Quist Rossi"),
    ("Chloé Zoë Søren Łucja Þóra Åse İpek Jiří", "Muñoz Ångström Öztürk Çelik Šimić Nguyễn Đorđević"),
    ("Ελένη Νίκος Θάλεια Ιάσων", "Παππά Αλεξίου Ψαρρά Ωνάση"),
    ("Анна Борис Ёлка Жанна Щедра", "Орлова Цветков Юдин Яковлева"),
    ("ليلى سامي نور هدى", "حداد منصور شاهين"),
    ("נועה איתן שירה יעל", "לוי כהן ברק"),
    ("आशा रवि मीरा किरण", "शर्मा वर्मा राव"),
    ("美咲 蓮 さくら ハルト", "佐藤 鈴木 田中"),
    ("伟 秀英 梓涵 子轩", "王 李 欧阳"),
    ("민준 서연 지우 하은", "김 이 박"),
    ("สมชาย มาลี อรทัย", "ใจดี ศรีสุข ทองดี"),
    ("ნინო გიორგი ლუკა", "ბერიძე კაპანაძე"),
    ("ሰላም አበበ ሙሉ", "ተስፋዬ ገብሬ"),
]
FILE_NAMES = ["{id}.cu"] * 12 + ["{name}.cu", "{name} (1).cu", "{name}_final.cu", "{name}-2.cu", "Copy of {name}.cu",
                                 "{dashed}.cu", "{upper}.CU"]  # fmt: skip
FOLDERS = [""] * 6 + ["homework", "homework/week {number}", "{id}"]


# ---- what can be handed in for a lesson ----


@dataclasses.dataclass(frozen=True)
class Work:
    """A file and what must come out for it; without a text, nothing is there to be judged."""

    kind: str
    source: str
    text: str | None
    standing: str
    points: str
    says: tuple = ()


@dataclasses.dataclass
class Lesson:
    number: int
    id: str
    name: str
    works: dict  # by kind


def mutant_work(path, solution):
    mutant = read_edits(path)
    text = with_edits(mutant, solution)
    expect = tuple(value for _, key, value in mutant.keys if key == "expect")
    if re.search(r"\bexit\(", text) and not re.search(r"\bexit\(", solution):  # the tests would say more of it
        return Work("mutant", path.stem, text, "refused", NONE, ("exit",))
    return Work("mutant", path.stem, text, "graded", LOST, expect)


def hostile_work(file):
    """The work and its lesson's number. Raises Unfit if its first lines lack something."""
    verdict = file.one("verdict").split()[:1]
    outcomes = {"fail": ("graded", LOST), "pass": ("graded", ALL), "refused": ("refused", NONE),
                "not_compiled": ("not_compiled", NONE)}  # fmt: skip
    if not verdict or verdict[0] not in outcomes or not file.one("lesson") or not file.one("trick"):
        raise Unfit(f"{file.path}: lesson, verdict and trick should be there, as tests/grading/hostile/README.md says.")
    outcome, says = outcomes[verdict[0]], file.fields.get("says", [])
    if word := file.fields.get("word"):
        outcome, says = outcomes["not_compiled"], word
    work = Work("hostile", file.name, file.text, *outcome, tuple(says))
    return int(file.one("lesson")), file.one("trick"), work


def read_hostile(tricks):
    """By lesson."""
    works = collections.defaultdict(list)
    for file in hostile_files():
        lesson, trick, work = hostile_work(file)
        if not tricks or trick in tricks:
            works[lesson].append(work)
    return works


def device_headers(number):
    """Headers of common/device that the course has introduced by that lesson: what stubs and solutions include."""
    found, waiting = set(), []
    for folder in (ROOT / "lessons", ROOT / "solutions"):
        waiting += [path for path in folder.glob("[0-9][0-9]_*/*.cu") if int(path.parent.name[:2]) <= number]
    while waiting:
        for header in re.findall(r'#include "(device/[^"]+)"', waiting.pop().read_text(encoding="utf-8")):
            if header not in found:
                found.add(header)
                waiting.append(ROOT / "common" / header)
    return found


def can_be_handed_in(path, number):
    """False for an alternative that calls what the course makes of this very lesson only later."""
    return set(re.findall(r'#include "(device/[^"]+)"', path.read_text(encoding="utf-8"))) <= device_headers(number)


def read_lesson(folder, hostile):
    description = json.loads((folder / "lesson.json").read_text(encoding="utf-8"))
    name, tests = description["name"], ROOT / "tests/lessons"
    solution = page_of((ROOT / "solutions" / folder.name / f"{name}.cu").read_text(encoding="utf-8"))
    stub = (folder / f"{name}.cu").read_text(encoding="utf-8")
    missing = ("missing", NONE, ("Nothing was handed in",))
    works = {
        "solution": [Work("solution", "", solution, "graded", ALL)],
        "alternative": [Work("alternative", path.stem, path.read_text(encoding="utf-8"), "graded", ALL)
                        for path in sorted((tests / "alternatives" / folder.name).glob("*.cu"))
                        if can_be_handed_in(path, description["number"])],
        "mutant": [mutant_work(path, solution) for path in sorted((tests / "mutants" / folder.name).glob("*.mutant"))],
        "stub": [Work("stub", "", stub, "graded", NONE)],
        "broken": [Work("broken", "", solution + "\nint half_a_line = \n", "not_compiled", NONE, ("expected",))],
        "empty": [Work("empty", "", "", "refused", NONE, ("is empty",))],
        "misnamed": [Work("misnamed", "", solution, *missing)],
        "missing": [Work("missing", "", None, *missing)],
        "hostile": hostile,
    }  # fmt: skip
    return Lesson(description["number"], folder.name, name, works)


def read_lessons(selection, tricks):
    """Raises Unfit for a selection that is none, e.g. "1-3,7" is one."""
    numbers = set()
    for part in selection.split(","):
        bounds = re.fullmatch(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*", part)
        if not bounds:
            raise Unfit(f"--lessons {selection}: write numbers and ranges, as in 1-3,7.")
        numbers.update(range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1))
    hostile = read_hostile(tricks)
    folders = {int(folder.name[:2]): folder for folder in (ROOT / "lessons").glob("[0-9][0-9]_*")}
    if unknown := numbers - set(folders):
        raise Unfit(f"--lessons {selection}: there is no lesson {min(unknown)}.")
    return [read_lesson(folders[number], hostile[number]) for number in sorted(numbers)]


# ---- who hands in what ----


def draw_names(count, rng):
    """So many names, no two alike. The odd ones come first, most of them only in larger classes."""
    names = ODD_NAMES[: 2 if count < 30 else len(ODD_NAMES)]
    groups = [[f"{given} {family}" for given in givens.split() for family in families.split()]
              for givens, families in GIVEN_AND_FAMILY]  # fmt: skip
    for group in groups:
        rng.shuffle(group)
    while len(names) < count:
        if not any(groups):
            groups[0] = [f"{name} {len(names)}" for name in names]
        # Every other name in the alphabet that the platforms' names of files are limited to.
        group = groups[0] if groups[0] and rng.random() < 0.5 else rng.choice([group for group in groups if group])
        names.append(group.pop())
    return names[:count]


def deal_kinds(count, shares, rng):
    """So many kinds by their shares; each once at least, if there is room."""
    total = sum(shares.values())
    exact = {kind: share * count / total for kind, share in shares.items()}
    deck = [kind for kind in exact for _ in range(max(1, int(exact[kind])))]
    deck += sorted(exact, key=lambda kind: int(exact[kind]) - exact[kind])  # the largest remainders first
    deck = (deck + ["solution"] * count)[:count]
    rng.shuffle(deck)
    return deck


def deal_works(lessons, count, arguments):
    """For each lesson one work for each student. Which kind does not depend on how many works there are of it."""
    kinds_rng, rng = random.Random(f"{arguments.seed} kinds"), random.Random(f"{arguments.seed} works")
    deck = deal_kinds(count * len(lessons), SHARES, kinds_rng)
    dealt = {}
    for lesson in lessons:
        pools = {kind: rng.sample(works, min(len(works), arguments.variety or len(works)))
                 for kind, works in lesson.works.items()}  # fmt: skip
        kinds, deck = deck[:count], deck[count:]
        dealt[lesson.id] = [rng.choice(pools[kind]) for kind in kinds]
        hostile = rng.sample(lesson.works["hostile"], len(lesson.works["hostile"]))
        attackers = round(arguments.hostile * count) if hostile else 0
        for i, student in enumerate(kinds_rng.sample(range(count), attackers)):
            dealt[lesson.id][student] = hostile[i % len(hostile)]
    return dealt


@dataclasses.dataclass
class File:
    path: str
    time: datetime.datetime
    text: str
    late: bool = False


class Student:
    """A student, the way in which the files come, and the files."""

    def __init__(self, name, number, rng):
        self.name, self.id, self.rng = name, "", rng
        self.files, self.expected = [], {}
        plain = name.isascii() and name.replace(" ", "").isalpha()
        odd = name in ODD_NAMES
        self.manner = "folder" if odd else rng.choice(["folder"] * 7 + ["zip", "moodle", "canvas" if plain else "zip"])
        if self.manner in ("canvas", "moodle"):
            self.id = str(410000 + number)
        if self.manner == "canvas":
            self.name = "".join(reversed(name.lower().split()))

    def hand_in(self, lesson, work):
        rng = self.rng
        late = rng.random() < LATE_SHARE and work.text is not None
        minutes = 2 * rng.randrange(1, 1440)
        time = DEADLINE + datetime.timedelta(minutes=minutes if late else -minutes)
        names = {"id": lesson.id, "name": lesson.name, "number": lesson.number,
                 "dashed": lesson.id.replace("_", "-"), "upper": lesson.id.title()}  # fmt: skip
        folder = rng.choice(FOLDERS).format(**names) if self.manner != "canvas" else ""
        path = (folder + "/" if folder else "") + rng.choice(FILE_NAMES).format(**names)
        if work.kind == "misnamed":
            path, late = f"my_{lesson.name}.cu", False
        if work.text is not None:
            self.files.append(File(path, time, work.text, late))
            if work.text and work.kind != "misnamed" and rng.random() < TWO_VERSIONS_SHARE:
                self.files.append(self.earlier_version(lesson, time, late))
        self.expected[lesson.id] = {"standing": work.standing, "points": work.points, "late": late,
                                    "says": list(work.says), "kind": work.kind, "source": work.source}  # fmt: skip

    def earlier_version(self, lesson, time, late):
        """A file that does not count, since it is older."""
        path = f"{lesson.id}.cu" if self.manner == "canvas" else f"before/{lesson.id}.cu"
        return File(path, time - datetime.timedelta(hours=30), "// not yet\n", late)

    def write(self, folder):
        """Writes what the student hands in below `folder`, the class's."""
        if self.manner == "zip":
            with zipfile.ZipFile(folder / f"{self.name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for file in self.files:
                    info = zipfile.ZipInfo(file.path, file.time.timetuple()[:6])
                    info.external_attr = 0o644 << 16
                    archive.writestr(info, file.text.encode(), zipfile.ZIP_DEFLATED)
            return
        if self.manner == "canvas":
            for number, file in enumerate(self.files):
                mark = "LATE_" if file.late else ""
                write_file(folder / f"{self.name}_{mark}{self.id}_{900000 + number}_{file.path}", file)
            return
        own = folder / (f"{self.name}_{self.id}_assignsubmission_file" if self.manner == "moodle" else self.name)
        own.mkdir()
        for file in self.files:
            write_file(own / file.path, file)


def write_file(path, file):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.text.encode())
    os.utime(path, (file.time.timestamp(),) * 2)


def make_class(arguments):
    """The students of the class, who have handed in. Raises Unfit."""
    lessons = read_lessons(arguments.lessons, arguments.tricks)
    rng = random.Random(f"{arguments.seed} students")
    students = [Student(name, i, rng) for i, name in enumerate(draw_names(arguments.students, rng))]
    dealt = deal_works(lessons, len(students), arguments)
    for i, student in enumerate(students):
        for lesson in lessons:
            student.hand_in(lesson, dealt[lesson.id][i])
        if student.manner == "canvas" and not student.files:
            student.manner = "zip"  # of somebody without files, Canvas has nothing
            student.id = ""
    judged = [(lesson.id, work.text) for lesson in lessons for work in dealt[lesson.id]
              if work.text and work.kind != "misnamed"]  # fmt: skip
    return lessons, students, judged


def parse(words):
    parser = Parser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path, help="folder to make")
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--lessons", default="1-18", help="as in 1-3,7")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hostile", type=float, default=0.1, help="share of the students who attack")
    parser.add_argument("--tricks", type=lambda text: text.split(","), default=[], help="that attacks use; else all")
    parser.add_argument("--variety", type=int, default=0, help="most different mutants, and alternatives, of a lesson")
    arguments = parser.parse_args(words)
    if arguments.students < 1 or not 0 <= arguments.hostile <= 1 or arguments.variety < 0:
        parser.error("--students is at least 1, --hostile between 0 and 1, --variety at least 0")
    if arguments.out.exists():
        parser.error(f"{arguments.out} is there already")
    return arguments


def main(words=None):
    arguments = parse(words)
    try:
        lessons, students, judged = make_class(arguments)
    except Unfit as problem:
        print(problem, file=sys.stderr)
        return 2 if str(problem).startswith("--") else 3
    arguments.out.mkdir(parents=True)
    for student in students:
        student.write(arguments.out)
    expected = {
        "deadline": f"{DEADLINE:%Y-%m-%d %H:%M}",
        "seed": arguments.seed,
        "lessons": [lesson.id for lesson in lessons],
        "files": len(judged),
        "different_files": len(set(judged)),
        "students": [{"name": s.name, "id": s.id, "manner": s.manner, "lessons": s.expected} for s in students],
    }
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    pathlib.Path(f"{arguments.out}.expected.json").write_text(text + "\n", encoding="utf-8")
    print(f"students: {len(students)}, lessons: {len(lessons)}, files to judge: {len(judged)}, of which different: "
          f"{len(set(judged))}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
