#!/usr/bin/env python3
"""Builds the site: the lessons as a book, the pages beside them, and the reference of contracts and headers.

Usage: scripts/build_site.py --out FOLDER [--steps PROGRAM] [--doxygen PROGRAM]

FOLDER/index.html opens from disk and needs no network. --steps is the program that writes the numbers of the
interactive pages (CMake target export_steps). Needs Doxygen, doxygen-awesome-css and MathJax, as
`scripts/setup.sh docs` installs them.
Exit status: 0 built, 1 a page or a comment has a mistake, 3 something is not installed or the folder cannot be written.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True
from book import formulas, html, markdown, pages, search  # noqa: E402  (beside this script)
from options import Parser  # noqa: E402

ROOT = pages.ROOT
ASSETS = ROOT / "docs" / "site"
THEME = pathlib.Path("/usr/share/doxygen-awesome-css/doxygen-awesome.css")
MATHJAX = pathlib.Path("/usr/share/javascript/mathjax")
# What pages with \f[ ... \f] use of MathJax, of 54 MB.
MATHJAX_PARTS = ["MathJax.js", "extensions", "jax/element", "jax/input/TeX", "jax/output/SVG/*.js",
                 "jax/output/SVG/autoload", "jax/output/SVG/fonts/TeX", "jax/output/SVG/config.js"]
HEADERS = ["common", "lessons"]
SENTENCE_END = re.compile(r"(?<=\.)(?<!et al\.)\s")
MARK = ".course-site"  # in a folder that holds a site, so that no other folder is ever replaced


class SiteError(Exception):
    """A mistake in what the site is made of."""


class MachineLacks(Exception):
    """A program or package that is not there; the message says which."""


def require(what: str, place: pathlib.Path) -> None:
    if not place.exists():
        raise MachineLacks(f"{what} is not installed ({place} is not there)")


def headers() -> list[str]:
    """The headers that the reference describes, as paths from the project's folder."""
    return sorted(file.relative_to(ROOT).as_posix() for folder in HEADERS for file in (ROOT / folder).rglob("*.hpp"))


def summary_of(path: str) -> str:
    """The first sentence of a header's own comment, or the names that it declares, six at most."""
    text = (ROOT / path).read_text(encoding="utf-8")
    comment = re.search(r"^/// @file\n((?:///.*\n)+)", text, re.MULTILINE)
    if comment:
        words = re.sub(r"^///\s?", "", comment.group(1), flags=re.MULTILINE).replace("@brief", "")
        return SENTENCE_END.split(" ".join(words.split("\n\n")[0].split()))[0]
    names = re.findall(r"^(?:struct|class|enum class) (\w+)\b(?!.*;$)|^[\w:].*?\b(\w+)\((?!\))", text, re.MULTILINE)
    return ", ".join(f"`{name}`" for name in list(dict.fromkeys(one or other for one, other in names))[:6])


def reference_page() -> pages.Page:
    """The list of contracts and headers."""
    lines = ["# Contracts and headers", "",
             "What the comments in the headers say: the contract of each lesson, and the parts of `common/`.", "",
             "## Contracts", "", "| lesson | contract | entries |", "|---|---|---|"]
    for lesson in pages.lessons():
        path = f"lessons/{lesson['folder']}/{lesson['name']}.hpp"
        entries = ", ".join(f"`{entry}`" for entry in lesson["entries"])
        lines.append(f"| [{lesson['number']:02} {lesson['title']}](lessons/{lesson['folder']}/README.md) "
                     f"| [{lesson['name']}.hpp]({path}) | {entries} |")
    told = {"device": "operations on tiles, rows and warps that lessons promote, for kernels of later lessons",
            "tensor": "tensors on the host, seeded and adversarial inputs, .npy files",
            "reference": "the float64 references that results are held against",
            "simt": "the simulator of the CUDA execution model",
            "grading": "calls in another process, comparison, diagnosis, reports",
            "cli": "the `course` program"}
    for folder, what in told.items():
        lines += ["", f"## common/{folder}", "", f"{what[0].upper()}{what[1:]}.", "", "| header | what it has |", "|---|---|"]
        for path in headers():
            if path.startswith(f"common/{folder}/"):
                text = summary_of(path).replace("|", "&#124;").replace("<", "&lt;").replace("@", "&#64;")
                lines.append(f"| [{path.removeprefix(f'common/{folder}/')}]({path}) | {text} |")
    return pages.Page("reference", "", "Contracts and headers", "guide", None, "\n".join(lines) + "\n")


def all_pages() -> tuple[list[tuple[str, list[pages.Page]]], list[pages.Page]]:
    """The chapters, and all pages: these and the listings."""
    groups = pages.groups(reference_page())
    book = [page for _, group in groups for page in group]
    listings = [listing for lesson in pages.lessons() for listing in pages.listings(lesson)]
    return groups, book + pages.diagnostic_pages() + listings


def run_doxygen(doxygen: str, work: pathlib.Path, out: pathlib.Path) -> None:
    """Runs Doxygen on the prepared pages in work/pages and on the headers."""
    require("doxygen-awesome-css", THEME)
    prepared = sorted((work / "pages").glob("*.md"))
    settings = (ROOT / "docs" / "Doxyfile").read_text(encoding="utf-8")
    settings += "\n".join([
        "", f'OUTPUT_DIRECTORY = "{out}"', "INPUT = " + " ".join(f'"{page}"' for page in prepared + HEADERS),
        f'HTML_HEADER = "{ASSETS / "header.html"}"', f'HTML_FOOTER = "{ASSETS / "footer.html"}"',
        f'HTML_EXTRA_STYLESHEET = "{THEME}" "{ASSETS / "site.css"}"',
        f'GENERATE_TAGFILE = "{work / "tags.xml"}"', ""])
    done = subprocess.run([doxygen, "-"], input=settings, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SiteError(done.stderr.replace(f"{work}/pages/", "").strip() or "Doxygen failed and said nothing")


def header_pages(tags: pathlib.Path) -> dict[str, str]:
    """The page that Doxygen made of each header, by the header's path."""
    found = {}
    for compound in xml.etree.ElementTree.parse(tags).getroot().iter("compound"):
        if compound.get("kind") == "file":
            path = (compound.findtext("path") or "") + compound.findtext("name")
            name = compound.findtext("filename")
            found[path.replace(f"{ROOT}/", "")] = name if name.endswith(".html") else f"{name}.html"
    return found


def reachable(finished: dict[str, str]) -> dict[str, str]:
    """The pages that links lead to from the first one. Doxygen makes lists besides that no page shows."""
    found, waiting = {}, ["index.html"]
    while waiting:
        address = waiting.pop()
        if address in found or address not in finished:
            continue
        found[address] = finished[address]
        waiting += re.findall(r'href="([\w.-]+\.html)', finished[address])
    return dict(sorted(found.items()))


def copy_mathjax(out: pathlib.Path) -> None:
    require("MathJax 2 (libjs-mathjax)", MATHJAX)
    for part in MATHJAX_PARTS:
        for file in MATHJAX.glob(part):
            target = out / "mathjax" / file.relative_to(MATHJAX)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.is_dir():
                shutil.copytree(file, target, dirs_exist_ok=True, symlinks=False)
            else:
                shutil.copy2(file, target)


def copy_assets(out: pathlib.Path, links: markdown.Links, steps: str | None) -> None:
    for name in ["site.js", "icon.svg"]:
        shutil.copy2(ASSETS / name, out / name)
    for path in sorted(links.copied):
        target = out / "files" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target)
    for name in ["steps_widget.js", "steps.js", "backward.js", "steps.css"]:
        shutil.copy2(ROOT / "docs" / "steps" / name, out / name)
    if steps:
        numbers = subprocess.run([steps], capture_output=True, text=True, check=True).stdout
        (out / "steps_data.js").write_text(numbers + reports_script(), encoding="utf-8")


def reports_script() -> str:
    """The reports of docs/steps.md, by the mutants that they are of, as a script that sets window.flashReports."""
    text = (ROOT / "docs" / "steps.md").read_text(encoding="utf-8")
    reports = dict(re.findall(r"<!-- mutant: \d\d (\w+) -->\n```\n(.*?)```\n<!-- /mutant -->", text, re.DOTALL))
    return f"window.flashReports = {json.dumps(reports)};\n"


def prepare_pages(everything: list[pages.Page], links: markdown.Links, folder: pathlib.Path) -> None:
    """Writes the Markdown that Doxygen gets, a file for each page."""
    folder.mkdir()
    for page in everything:
        try:
            text = markdown.prepare(page, links)
        except formulas.FormulaError as error:
            raise SiteError(f"{page.source}: {error}") from error
        (folder / f"{page.name}.md").write_text(text, encoding="utf-8")


def finish_pages(out: pathlib.Path, everything: list[pages.Page], groups, made: dict[str, str]) -> dict[str, str]:
    """Makes pages of the site of what Doxygen wrote, and takes away what no link leads to. Returns HTML by address."""
    by_address = {page.address: page for page in everything}
    finished = {}
    for file in out.glob("*.html"):
        page = by_address.get(file.name)
        try:
            finished[file.name] = html.finish(file.read_text(encoding="utf-8"), page, groups, made)
        except html.LostFormula as error:
            raise SiteError(f"{page.source}: {error}") from error
        file.unlink()
    missing = sorted(set(by_address) - set(finished))
    if missing:
        raise SiteError(f"Doxygen made no page {missing[0]}")
    finished = reachable(finished)
    for address, text in finished.items():
        (out / address).write_text(text, encoding="utf-8")
    (out / "search_data.js").write_text(search.data(finished, by_address), encoding="utf-8")
    return finished


def fill(out: pathlib.Path, doxygen: str, steps: str | None) -> int:
    """Makes the site in an empty folder. Returns the number of its pages."""
    groups, everything = all_pages()
    links = markdown.Links(everything, set(headers()))
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        prepare_pages(everything, links, work / "pages")
        run_doxygen(doxygen, work, out)
        finished = finish_pages(out, everything, groups, header_pages(work / "tags.xml"))
    copy_assets(out, links, steps)
    copy_mathjax(out)
    return len(finished)


def build(out: pathlib.Path, doxygen: str, steps: str | None) -> str:
    """Builds the site, and puts it in the place of an older one once it is complete. Returns a sentence on it."""
    began = time.monotonic()
    if out.exists() and any(out.iterdir()) and not (out / MARK).exists():
        raise SiteError(f"{out} has files that are not those of a site; name an empty folder")
    new = out.with_name(f".{out.name}.new")
    shutil.rmtree(new, ignore_errors=True)  # of a run that was interrupted
    new.mkdir(parents=True)
    (new / MARK).touch()
    try:
        count = fill(new, doxygen, steps)
        size = sum(file.stat().st_size for file in new.rglob("*") if file.is_file())
        if out.exists():
            shutil.rmtree(out)
        new.rename(out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return f"{count} pages, {size / 1e6:.1f} MB, {time.monotonic() - began:.1f} s: {out / 'index.html'}"


def main() -> int:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the site; an older site is replaced")
    parser.add_argument("--steps", help="the program that writes the numbers of the interactive pages")
    parser.add_argument("--doxygen", default="doxygen")
    arguments = parser.parse_args()
    try:
        if not shutil.which(arguments.doxygen):
            raise MachineLacks(f"{arguments.doxygen} is not installed")
        print(build(arguments.out.resolve(), arguments.doxygen, arguments.steps))
    except (SiteError, markdown.LinkError) as error:
        print(f"the site cannot be built:\n{error}", file=sys.stderr)
        return 1
    except MachineLacks as error:
        print(f"{error}; scripts/setup.sh docs installs what the site needs", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"the site cannot be written: {error.strerror}: {error.filename}; --out names another folder", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
