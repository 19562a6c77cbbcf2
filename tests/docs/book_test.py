#!/usr/bin/env python3
"""Tests of scripts/book and scripts/check_site.py: what becomes of a page, and what is found wrong with one."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from book import html, markdown, pages, search  # noqa: E402
import check_site  # noqa: E402


def page(text, name="grader", source="docs/grader.md", kind="guide"):
    return pages.Page(name, source, "A title", kind, None, text)


def prepared(text, *others):
    one = page(text)
    return markdown.prepare(one, markdown.Links([one, *others], {"common/device/reduce.hpp"}))


class Markdown(unittest.TestCase):
    def test_anchors_are_those_of_a_code_host(self):
        self.assertEqual(markdown.slug("How fast, and why"), "how-fast-and-why")
        self.assertEqual(markdown.slug("`lse`: one number"), "lse-one-number")
        self.assertEqual([anchor for _, _, anchor in markdown.headings("# A\n## B\n## B\n```\n# no\n```\n")],
                         ["a", "b", "b-1"])

    def test_headings_get_names(self):
        self.assertEqual(prepared("# T\n\n## The idea\n"), "# T {#grader}\n\n## The idea {#grader--the-idea}\n")

    def test_links_lead_to_pages(self):
        lesson = pages.Page("lesson_05", "lessons/05_online_softmax/README.md", "05", "lesson", None, "# L\n\n## The idea\n")
        text = "# T\n\nSee [lesson\n05](../lessons/05_online_softmax/README.md#the-idea), `[x](y)`, [sums](../common/device/reduce.hpp).\n"
        got = prepared(text, lesson)
        self.assertIn("[lesson\n05](lesson_05.html#the-idea)", got)
        self.assertIn("`[x](y)`", got)
        self.assertIn(f"[sums]({markdown.HEADER_ADDRESS}common/device/reduce.hpp)", got)

    def test_links_to_files_and_folders(self):
        one = page("# T\n\n[a](results/README.md) [b](../common/simt) [c](../tests/simt/planted) [d](https://x.org/)\n")
        links = markdown.Links([one], set())
        got = markdown.prepare(one, links)
        self.assertIn("[a](files/docs/results/README.md)", got)
        self.assertIn("[b](reference.html#commonsimt)", got)
        self.assertIn(" c [d](https://x.org/)", got)
        self.assertEqual(links.copied, {"docs/results/README.md"})

    def test_a_link_that_leads_nowhere_is_an_error_that_names_it(self):
        for link in ["nothing.md", "#nowhere", "../lessons/05_online_softmax/none.cu"]:
            with self.subTest(link=link), self.assertRaises(markdown.LinkError) as error:
                prepared(f"# T\n\n[a]({link})\n")
            self.assertIn("docs/grader.md", str(error.exception))
            self.assertIn(link, str(error.exception))

    def test_code_stays_as_it_is(self):
        code = "```cpp\n# [a](nothing.md)\n> l ← 2\n```\n"
        self.assertTrue(prepared(f"# T\n\n{code}").endswith(code))

    def test_marks_for_scripts_vanish(self):
        text = "# T\n\n<!-- snippet: a.cu b -->\n```cpp\nint x;\n```\n<!-- /snippet -->\n\nIt takes <!-- value: v -->3<!-- /value --> ms.\n"
        got = prepared(text)
        self.assertNotIn("<!--", got)
        self.assertIn("It takes 3 ms.", got)


class Html(unittest.TestCase):
    def setUp(self):
        self.lesson = {"number": 5, "name": "online_softmax", "title": "Online softmax", "part": 2, "minutes": 90, "points": 30,
                       "prerequisites": [4], "folder": "05_online_softmax"}
        before = pages.Page("lesson_04", "", "04 Safe softmax", "lesson", {**self.lesson, "number": 4, "title": "Safe softmax"})
        self.page = pages.Page("lesson_05", "", "05 Online softmax", "lesson", self.lesson, "word " * 401)
        reference = pages.Page("reference", "", "Contracts and headers", "guide")
        self.groups = [("Softmax", [before, self.page]), ("Reference", [reference])]

    def finish(self, body, current=None):
        text = ('<html><body><!-- turn --><!-- chapters --><div class="header"><div class="title">T</div></div>'
                f'<div class="contents">{body}</div></body></html>')
        return html.finish(text, current or self.page, self.groups, {"common/a.hpp": "a_8hpp.html"})

    def test_a_lesson_says_what_it_asks(self):
        got = self.finish("")
        self.assertIn("3 min to read · about 1 h 30 min to do · 30 points · rests on "
                      '<a href="lesson_04.html" title="Safe softmax">04</a>', got)
        for what in ("contract", "hints", "stub", "solution", "tests"):
            self.assertIn(f'href="lesson_05_{what}.html"', got)

    def test_one_title_and_headings_below_it_with_links_to_themselves(self):
        got = self.finish('<h1><a class="anchor" id="lesson_05--the-idea"></a>\nThe idea</h1>')
        self.assertIn('<h1 class="title">T</h1>', got)
        self.assertIn('<h2 id="the-idea">The idea <a class="here" href="#the-idea"', got)

    def test_the_page_is_marked_and_can_be_turned(self):
        got = self.finish("")
        self.assertIn('<a href="lesson_05.html" aria-current="page">', got)
        self.assertIn('rel="prev" href="lesson_04.html"', got)
        self.assertIn('rel="next" href="reference.html"', got)

    def test_contents_list_the_sections(self):
        body = "".join(f'<h1><a class="anchor" id="lesson_05--s{i}"></a>\nS {i}</h1>' for i in range(3))
        self.assertIn('<li><a href="#s1">S 1</a></li>', self.finish(body))

    def test_addresses_of_headers_are_those_that_doxygen_gave(self):
        self.assertIn('<a href="a_8hpp.html">', self.finish(f'<a href="{markdown.HEADER_ADDRESS}common/a.hpp">a</a>'))

    def test_mathjax_comes_only_with_formulas(self):
        script = '<script type="text/javascript" async="async" src="mathjax/MathJax.js"></script>'
        self.assertNotIn("MathJax", self.finish(script))
        self.page = pages.Page("lesson_05", "", "", "lesson", self.lesson, "> x ← 1 · 2\n")
        self.groups[0][1][1] = self.page
        with self.assertRaisesRegex(html.LostFormula, "of 1 display formulas, Doxygen has left 0"):
            self.finish("")
        got = self.finish(f'{script}<p class="formulaDsp">\n\\[ x &lt; 1 \\]\n</p>')
        self.assertIn("MathJax", got)
        self.assertIn('<p class="plain">x ← 1 · 2</p><script type="math/tex; mode=display">x < 1</script>', got)

    def test_listings_of_the_reference_lead_back(self):
        got = html.finish('<!-- turn --><!-- chapters --><div class="contents"></div>', None, self.groups, {})
        self.assertIn('rel="up" href="reference.html"', got)
        self.assertIn('<li class="around"><a href="reference.html">', got)

    def test_names_in_code_are_not_linked_to_others_of_the_same_spelling(self):
        got = self.finish('<div class="fragment"><div class="line">#include "<a class="code" href="a_8hpp.html">a.hpp</a>"</div>'
                          '<div class="line"><a class="code hl_function" href="b.html#x">add</a>(H<span class="keywordtype">id'
                          '</span>den)</div>\n<div class="ttc" id="x"><div class="ttname">no</div></div>\n</div>')
        self.assertIn('<a class="code" href="a_8hpp.html">a.hpp</a>', got)
        self.assertIn("add(Hidden)", got)
        self.assertNotIn("ttname", got)

    def test_hints_but_the_first_are_folded(self):
        hints = pages.Page("lesson_05_hints", "", "hints", "code", self.lesson, "", "lesson_05")
        body = "".join(f'<h1><a class="anchor" id="lesson_05_hints--{i}"></a>\nHint {i}</h1><p>{i}</p>' for i in (1, 2, 3))
        got = self.finish(f'<div class="textblock">{body}</div></div><!-- contents -->', hints)
        self.assertEqual(got.count("<details"), 2)
        self.assertEqual(got.count("</details>"), 2)
        self.assertIn("</p></details>\n</div></div><!-- contents -->", got)

    def test_quoted_words_of_a_link_are_pointed_at(self):
        self.assertIn("(grader.html?words=two+words#t)", prepared('# T\n\n[09 T: "two\nwords"](#t)\n'))

    def test_the_parts_of_a_contract_become_a_list(self):
        got = html.finish('<div class="contents"><p>y = x. Shapes: any. Cost: reads x once.</p></div>', None, self.groups, {})
        self.assertIn("<p>y = x.</p>", got)
        self.assertIn("<dt>Shapes</dt><dd>any.</dd>", got)
        self.assertIn("<dt>Cost</dt><dd>reads x once.</dd>", got)


class Search(unittest.TestCase):
    TEXT = ('<html><body><main><h1 class="title">Lesson 5 &amp; more</h1><p class="facts">3 min</p><p>First <em>words</em>.</p>'
            '<img alt="A picture" src="x.svg"/><h2 id="idea">The idea <a class="here" href="#idea">#</a></h2>'
            "<p>Rescale &lt;it&gt;.</p><nav>not this</nav></main><p>nor this</p></body></html>")

    def test_sections_begin_at_headings(self):
        self.assertEqual(search.sections_of(self.TEXT),
                         [("", "", "First words. A picture", "words"), ("The idea", "idea", "Rescale <it>.", "")])

    def test_data_is_a_script_with_one_entry_for_each_section(self):
        lesson = pages.Page("lesson_05", "", "05", "lesson")
        script = search.data({"lesson_05.html": self.TEXT}, {"lesson_05.html": lesson})
        entries = json.loads(script.partition("window.searchData=")[2].removesuffix(";\n"))
        self.assertEqual(entries[1], [0, "Lesson 5 & more", "The idea", "lesson_05.html#idea", "Rescale <it>.", ""])

    def test_phrases_are_those_of_pages_that_are_there(self):
        script = search.data({"lesson_15.html": self.TEXT}, {"lesson_15.html": pages.Page("lesson_15", "", "15", "lesson")})
        phrases = json.loads(script.removeprefix("window.searchPhrases=").partition(";\n")[0])
        self.assertEqual(phrases, {"lesson_15.html": search.PHRASES["lesson_15"]})

    def test_phrases_belong_to_pages_of_the_site(self):
        names = {page.name for _, group in pages.groups(page("")) for page in group}
        names |= {page.name for page in pages.diagnostic_pages()}
        self.assertEqual(set(search.PHRASES) - names, set())


class CheckSite(unittest.TestCase):
    GOOD = ('<!DOCTYPE html><html lang="en"><head><title>T</title></head><body><header></header><main><h1>T</h1>{}</main>'
            '<nav id="chapters"><a href="index.html">Home</a></nav></body></html>')

    def problems(self, body, frame=GOOD):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "index.html").write_text(frame.format(body), encoding="utf-8")
            return check_site.check(site)

    def test_a_good_page_has_no_problem(self):
        self.assertEqual(self.problems('<h2 id="a">A</h2><a href="#a">to a</a><img alt="" src="index.html"/>'), [])

    def test_each_kind_of_problem_is_found(self):
        for body, sentence in [
            ('<a href="none.html">x</a>', "none.html leads to no file"),
            ('<a href="#none">x</a>', "#none leads to an anchor that is not there"),
            ('<a href="index.html#none">x</a>', "leads to an anchor that is not there"),
            ('<img src="index.html">', "has no alternative text"),
            ('<p id="a"></p><p id="a"></p>', 'two elements have the id "a"'),
            ("<div>", "<div> is open where </main> comes"),
            ("</div>", "closes nothing"),
            ("<h1>again</h1>", "2 headings of level 1"),
            ('<input type="search">', "<input> has no name"),
            ('<a href="#"></a>', "a <a> has no words"),
            ('<script src="https://x.org/a.js"></script>', "from a network"),
            ("<p>a \\f[ x</p>", "markup was left in the text"),
            ("<p>[a](b.md)</p>", "markup was left in the text"),
            ("<p>*... of P*</p>", "an asterisk was left in the text"),
        ]:
            with self.subTest(body=body):
                self.assertTrue(any(sentence in problem for problem in self.problems(body)), self.problems(body))

    def test_language_and_landmarks(self):
        found = " ".join(self.problems("", '<html><head><title></title></head><body><h1>T</h1>{}</body></html>'))
        for sentence in ("its language is not set", "it has no title", "main, nav or header is missing"):
            self.assertIn(sentence, found)

    def test_markup_in_code_is_not_a_problem(self):
        self.assertEqual(self.problems('<pre>[a](b.md)</pre><div class="fragment"><div class="line">\\f[ x</div></div>'), [])


class BuildSite(unittest.TestCase):
    def build(self, *arguments):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts/build_site.py", *arguments], capture_output=True, text=True,
                              check=False, timeout=60)

    def test_a_folder_with_other_files_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.txt").write_text("mine")
            done = self.build("--out", folder, "--doxygen", "true")
            self.assertEqual(done.returncode, 1)
            self.assertIn("has files that are not those of a site", done.stderr)
            self.assertEqual((pathlib.Path(folder) / "mine.txt").read_text(), "mine")

    def test_an_older_site_stays_when_a_new_one_cannot_be_built(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder) / "site"
            site.mkdir()
            (site / ".course-site").touch()
            (site / "index.html").write_text("old")
            done = self.build("--out", str(site), "--doxygen", "false")
            self.assertEqual(done.returncode, 1)
            self.assertIn("Doxygen failed", done.stderr)
            self.assertEqual((site / "index.html").read_text(), "old")
            self.assertEqual([file.name for file in pathlib.Path(folder).iterdir()], ["site"])

    def test_a_folder_that_cannot_be_made(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "file").touch()
            done = self.build("--out", f"{folder}/file/site", "--doxygen", "true")
            self.assertEqual(done.returncode, 3)
            self.assertIn("the site cannot be written: Not a directory", done.stderr)

    def test_a_machine_without_doxygen(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.build("--out", f"{folder}/site", "--doxygen", "no-such-doxygen")
            self.assertEqual(done.returncode, 3)
            self.assertIn("no-such-doxygen is not installed", done.stderr)


if __name__ == "__main__":
    unittest.main()
