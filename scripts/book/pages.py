"""Which pages the site has, in the order of a book."""

import dataclasses
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

PARTS = {
    1: "Threads and memory",
    2: "Softmax",
    3: "Blocks",
    4: "FlashAttention forward",
    5: "Backward",
    6: "Tensor cores",
    7: "Hopper",
    8: "PyTorch and decoding",
}


@dataclasses.dataclass(frozen=True)
class Page:
    """One page of the site.

    name     the page's address without ".html"
    source   its file, as a path from the project's folder; for a page that is generated, ""
    title    what links to it say
    kind     "home", "lesson", "guide", "beside" (a page of a lesson), "code" (a listing) or "reference"
    lesson   lesson.json of the lesson that it belongs to
    parent   the name of the page that it belongs to, if it is not one of the chapters
    markdown what a generated page says
    """

    name: str
    source: str
    title: str
    kind: str
    lesson: dict | None = None
    markdown: str | None = None
    parent: str = ""

    @property
    def address(self) -> str:
        return f"{self.name}.html"

    def text(self) -> str:
        """The page in Markdown as the repository has it, or as it was generated."""
        return self.markdown if self.markdown is not None else (ROOT / self.source).read_text(encoding="utf-8")


def _guide(name: str, source: str, title: str) -> Page:
    return Page(name, source, title, "guide")


BESIDE = [
    _guide("steps", "docs/steps.md", "FlashAttention-2, step by step"),
    _guide("steps_backward", "docs/steps_backward.md", "Backward, step by step"),
    _guide("notes_map", "docs/notes_map.md", "From the notes to the lessons"),
    _guide("reports", "docs/reports.md", "What a report begins with"),
    _guide("glossary", "docs/glossary.md", "Glossary: CUDA beside Triton"),
    _guide("gpu", "docs/gpu.md", "Your own GPU"),
    _guide("operator", "docs/operator.md", "Your kernels in PyTorch"),
    _guide("results", "docs/results.md", "Results on GPUs"),
    # scripts/write_torch_page.py writes it once there are results.
    *([_guide("pytorch", "docs/pytorch.md", "Beside PyTorch")] if (ROOT / "docs" / "pytorch.md").is_file() else []),
]
HOW = [
    _guide("architecture", "docs/architecture.md", "Architecture"),
    _guide("grader", "docs/grader.md", "How the grader decides"),
    _guide("simulator", "docs/simulator.md", "How the simulator sees your kernel"),
    _guide("ptx", "docs/ptx.md", "PTX in the simulator"),
    _guide("counters", "docs/counters.md", "Counters beside the profiler"),
    _guide("diagnostics", "docs/diagnostics.md", "Diagnostics, class by class"),
]
OTHERS = [
    _guide("instructors", "docs/instructors.md", "For instructors"),
    _guide("grading", "docs/grading.md", "Grading a class"),
    _guide("class_submissions", "docs/class_submissions.md", "What a class hands in"),
    _guide("class_formats", "docs/class_formats.md", "Results of a class, format by format"),
    _guide("authors", "CONTRIBUTING.md", "For authors"),
    _guide("measurements", "docs/results/README.md", "How results are measured"),
]


def lessons() -> list[dict]:
    """lesson.json of every lesson, in order, with its folder's name as "folder"."""
    found = []
    for file in sorted((ROOT / "lessons").glob("*/lesson.json")):
        found.append({**json.loads(file.read_text(encoding="utf-8")), "folder": file.parent.name})
    return sorted(found, key=lambda lesson: lesson["number"])


def name_of(lesson: dict) -> str:
    return f"lesson_{lesson['number']:02}"


def lesson_pages() -> list[Page]:
    return [
        Page(name_of(lesson), f"lessons/{lesson['folder']}/README.md", f"{lesson['number']:02} {lesson['title']}",
             "lesson", lesson)
        for lesson in lessons()
    ]


def diagnostic_pages() -> list[Page]:
    """One page for each class of finding."""
    files = sorted((ROOT / "docs" / "diagnostics").glob("*.md"))
    return [Page(f"diagnostic_{file.stem}", f"docs/diagnostics/{file.name}", file.stem, "guide", parent="diagnostics")
            for file in files]


# What the page of a file says about it.
TOLD = {
    "contract": "what the tests call and hold the kernel to",
    "stub": "the file that you edit",
    "solution": "as CI compiles and tests it",
    "tests": "the same for stub, solution and your own kernel",
}


def listings(lesson: dict) -> list[Page]:
    """What belongs to a lesson, a page each: mistakes, GPU, contract, hints, stub, solution and tests."""
    folder, name, parent = lesson["folder"], lesson["name"], name_of(lesson)
    number = f"Lesson {lesson['number']:02}"

    def listing(what: str, path: str) -> Page:
        marks = " Lines such as `// [fold]` mark what the notes show." if "// [" in (ROOT / path).read_text() else ""
        markdown = (f"# {number}: {what}\n\n{lesson['title']}: `{path}`, {TOLD[what]}.{marks}\n\n"
                    f"\\include{{lineno}} {path}\n")
        return Page(f"{parent}_{what}", path, what, "code", lesson, markdown, parent)

    def beside(what: str, file: str, kind: str) -> Page:
        return Page(f"{parent}_{file}", f"lessons/{folder}/{file}.md", what, kind, lesson, None, parent)

    return [
        beside("what goes wrong", "mistakes", "beside"),
        beside("on a GPU", "gpu", "beside"),
        listing("contract", f"lessons/{folder}/{name}.hpp"),
        beside("hints", "hints", "code"),
        listing("stub", f"lessons/{folder}/{name}.cu"),
        listing("solution", f"solutions/{folder}/{name}.cu"),
        listing("tests", f"tests/lessons/{folder}_test.cpp"),
    ]


def groups(reference: Page) -> list[tuple[str, list[Page]]]:
    """The chapters as the sidebar shows them: a heading and its pages. The page of the reference is made elsewhere."""
    by_part: dict[int, list[Page]] = {}
    for page in lesson_pages():
        by_part.setdefault(page.lesson["part"], []).append(page)
    shown = [(f"{part} {PARTS[part]}", pages) for part, pages in sorted(by_part.items())]
    first = [Page("index", "docs/home.md", "Home", "home"), _guide("before", "docs/before.md", "Before you begin")]
    return [("", first), *shown, ("Beside the lessons", BESIDE), ("How it works", HOW),
            ("To teach and to write", OTHERS), ("Reference", [reference])]
