#!/usr/bin/env python3
"""Opens sample cohort pages in headless Chromium, as an instructor would, and keeps pictures of them.

Usage: cohort_browser_test.py COHORT_SAMPLE SOURCE PICTURES

COHORT_SAMPLE is the program that writes the pages, SOURCE the project's folder. Every page is loaded from disk at a
desktop's and a phone's width, in light and dark: nothing wider than the screen, text with enough contrast, no message,
no request. Then what a reader does: sorting, filtering, following links, printing, no JavaScript. Pictures go to
PICTURES/<page>_<width>_<colours>.png.
Exit status: 0 all well, or skipped (no Chromium, no Selenium), 1 something is wrong.
"""

import base64
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import site_browser_test as browsing  # noqa: E402  ends the program with "skipped" if there is no Selenium

from selenium.webdriver.common.keys import Keys  # noqa: E402

FOLDER = PICTURES = None
PAGES = ["index.html", "plain.html", "ungraded.html", "empty.html"]
HOSTILE = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "javascript:alert(4)",
           "ليلى الحسن", "王小明", "&lt;b&gt; %41 100%", "x" * 190 + " the Great"]
NAMES = "return [...document.querySelectorAll('table.students tbody .name')].map((e) => e.textContent)"
SHOWN = ("return [...document.querySelectorAll('table.students tbody tr')].filter((e) => e.checkVisibility())"
         ".map((e) => e.querySelector('.name').textContent)")
COLUMN = ("return [...document.querySelectorAll('table.students tbody tr')].map("
          "(e) => parseFloat(e.cells[arguments[0]].textContent)).map((x) => Number.isNaN(x) ? -1 : x)")

# Contrast of texts in pictures with the page, or with the nearest element that has an opaque background.
PICTURE_CONTRAST = r"""
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parse = (text) => text.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if ((colour[3] ?? 1) === 1) return colour;
  }
  return [255, 255, 255];
};
return [...document.querySelectorAll("svg text")].map((e) => {
  const [a, b] = [light(parse(getComputedStyle(e).fill)), light(behind(e))];
  return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent];
}).filter(([ratio]) => ratio < 4.5).map(([ratio, text]) => `${ratio.toFixed(2)} ${text}`);
"""
# What a screen reader would stumble over.
STRUCTURE = r"""
const found = [];
const all = (selector) => [...document.querySelectorAll(selector)];
if (document.documentElement.lang !== "en") found.push("no language");
if (all("h1").length !== 1) found.push(`${all("h1").length} h1`);
let last = 0;
for (const head of all("h1, h2, h3, h4, h5, h6")) {
  const level = Number(head.tagName[1]);
  if (level > last + 1) found.push(`${head.tagName} after h${last}`);
  if (!head.textContent.trim()) found.push(`${head.tagName} is empty`);
  last = level;
}
for (const table of all("table")) {
  if (!table.caption || !table.caption.textContent.trim()) found.push(`${table.className} has no caption`);
  if ([...table.tHead.rows[0].cells].some((e) => e.scope !== "col")) found.push(`${table.className}: columns`);
  for (const row of table.tBodies[0].rows) {
    if (row.cells[0].scope !== "row") found.push(`${table.className}: a row without a head`);
    if (row.cells.length !== table.tHead.rows[0].cells.length) found.push(`${table.className}: a row's length`);
  }
}
for (const svg of all("svg")) {
  const named = svg.getAttribute("aria-label") ||
    (svg.getAttribute("aria-labelledby") || "").split(" ").every((id) => document.getElementById(id)?.textContent);
  if (svg.getAttribute("aria-hidden") !== "true" && !(svg.getAttribute("role") === "img" && named))
    found.push(`${svg.outerHTML.slice(0, 60)} has no name`);
}
const ids = all("[id]").map((e) => e.id);
found.push(...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `two elements are #${id}`));
for (const e of all("[aria-labelledby]"))
  for (const id of e.getAttribute("aria-labelledby").split(" "))
    if (!document.getElementById(id)) found.push(`nothing is #${id}`);
return found;
"""


class Pages(browsing.Case):
    """Every page, as it looks."""

    def test_every_page_at_every_width_and_in_both_colours(self):
        for page in PAGES:
            for width in browsing.WIDTHS:
                self.screen(width)
                self.open(page)
                with self.subTest(page=page, width=width):
                    self.assertEqual(self.browser.execute_script(browsing.WIDER), [], "wider than the screen")
                    self.assertLessEqual(*self.browser.execute_script(
                        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"))
                    self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [], "console")
                    self.assertEqual(self.browser.execute_script(
                        "return performance.getEntriesByType('resource').map((e) => e.name)"), [], "requests")
                    self.assertEqual(self.browser.execute_script(STRUCTURE), [], "structure")
                for colours in browsing.COLOURS:
                    self.colours(colours)
                    with self.subTest(page=page, width=width, colours=colours):
                        self.assertEqual(self.browser.execute_script(browsing.CONTRAST), [], "contrast")
                        self.assertEqual(self.browser.execute_script(PICTURE_CONTRAST), [], "contrast in pictures")
                    self.keep_picture(f"{page.removesuffix('.html')}_{width}_{colours}.png")

    def keep_picture(self, name):
        """The whole page, not only what the screen shows of it."""
        height = self.browser.execute_script("return document.documentElement.scrollHeight")
        pixels = self.browser.execute_script("return document.documentElement.clientWidth")
        shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": pixels, "height": height, "scale": 1}})
        (PICTURES / name).write_bytes(base64.b64decode(shot["data"]))

    def test_what_is_looked_for_would_be_found(self):
        self.screen("phone")
        self.colours("light")
        self.open("index.html")
        self.browser.execute_script("""
            const box = document.createElement("div");
            box.setAttribute("width", "900");
            box.append(Object.assign(document.createElement("h4"), {textContent: "too deep"}));
            document.querySelector("main").append(box);
            box.style.width = "900px";
            document.querySelector("svg text").style.fill = "#bbbbbb";
            document.querySelector(".facts").style.color = "#bbbbbb";""")
        self.assertTrue(self.browser.execute_script(browsing.WIDER))
        self.assertEqual(len(self.browser.execute_script(PICTURE_CONTRAST)), 1)
        self.assertEqual(len(self.browser.execute_script(browsing.CONTRAST)), 1)
        self.assertIn("H4 after h2", self.browser.execute_script(STRUCTURE))

    def test_the_file_names_nothing_that_would_be_loaded(self):
        for page in PAGES:
            text = (FOLDER / page).read_text(encoding="utf-8")
            self.assertEqual(re.findall(r"<[^>]*\s(?:src|srcset|action|style|on\w+)\s*=", text), [])
            links = re.findall(r'<[^>]*\shref="([^"]*)"', text)
            self.assertEqual([link for link in links if not re.match(r"(#|\./|data:,$)", link)], [])
            self.assertNotRegex(text, r"url\(|@import")

    def test_paper_has_room_for_everything(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False})  # A4 less its margins
        self.open("index.html")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        widths = self.browser.execute_script(
            "return [...document.querySelectorAll('table')].map((e) => [e.className, e.offsetWidth])")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        for name, width in widths:
            self.assertLessEqual(width, 1040 if name == "students" else 718, name)  # that one is printed across
        pdf = self.browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        (PICTURES / "index.pdf").write_bytes(base64.b64decode(pdf["data"]))


class Reader(browsing.Case):
    """What an instructor does with the page."""

    def setUp(self):
        self.screen()
        self.colours("light")
        self.open("index.html")

    def head(self, column):
        return self.all("table.students thead button")[column]

    def test_hostile_names_are_names(self):
        names = self.browser.execute_script(NAMES)
        for name in HOSTILE:
            self.assertIn(name, names)
        self.assertEqual(len(self.all("script")), 1)
        self.assertEqual(self.all("img"), [])
        self.assertEqual(self.all("[onerror], [onfocus]"), [])

    def test_the_policy_stops_scripts_that_are_not_the_page_s(self):
        self.browser.execute_script("""
            const image = document.createElement("img");
            image.setAttribute("onerror", "window.stolen = 1");
            image.src = "data:,";
            document.body.append(image);
            const script = document.createElement("script");
            script.textContent = "window.stolen = 2";
            document.body.append(script);""")
        self.wait(lambda browser: "violates" in "".join(entry["message"] for entry in browser.get_log("browser")), 10)
        self.assertIsNone(self.browser.execute_script("return window.stolen"))

    def test_links_lead_to_files(self):
        links = [link.get_attribute("href") for link in self.all("table.students a")]
        self.assertEqual(len(links), 2 * len(self.browser.execute_script(NAMES)))
        self.assertEqual(len(set(links)), len(links))
        for link in links:
            parts = urllib.parse.urlsplit(link)
            self.assertEqual((parts.scheme, parts.query, parts.fragment), ("file", "", ""), link)
            self.assertTrue(pathlib.Path(urllib.parse.unquote(parts.path)).is_file(), link)
        for link in self.all("nav a"):
            target = link.get_attribute("href").rsplit("#", 1)[1]
            self.assertEqual(len(self.all(f"#{target}")), 1, target)

    def test_a_link_of_a_hostile_name_opens(self):
        row = next(row for row in self.all("table.students tbody tr") if row.text.startswith("<script>"))
        link = row.find_element(browsing.By.LINK_TEXT, "results")
        self.browser.execute_script("arguments[0].click()", link)
        self.wait(lambda browser: browser.current_url.endswith("/results.json"), 10)
        self.assertIn("{}", self.one("body").text)

    def test_sorting_by_points_and_by_name(self):
        before = self.browser.execute_script(NAMES)
        lessons = len(self.all("table.students thead th")) - 3
        for column in (1, 2, lessons + 1):
            self.head(column).click()
            values = self.browser.execute_script(COLUMN, column)
            self.assertEqual(values, sorted(values, reverse=True), column)
            self.assertGreater(len(set(values)), 2)
            self.head(column).click()
            values = self.browser.execute_script(COLUMN, column)
            self.assertEqual(values, sorted(values), column)
        self.assertEqual([head.get_attribute("aria-sort") for head in self.all("table.students th[aria-sort]")],
                         ["ascending"])
        self.head(0).send_keys(Keys.ENTER)
        after = self.browser.execute_script(NAMES)
        plain = [name for name in after if re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", name)]
        self.assertEqual(plain, sorted(plain))
        self.assertEqual(sorted(after), sorted(before))

    def test_the_filter_knows_letters_without_their_accents(self):
        box = self.one("#filter")
        for query, names in {"bjorn": ["Björn Ångström"], "ÉMILIE": ["Émilie Châtelet"], "王": ["王小明"],
                             "<script": ["<script>alert(1)</script>"], "no such name": []}.items():
            box.clear()
            box.send_keys(query)
            self.assertEqual(self.browser.execute_script(SHOWN), names, query)
            self.assertEqual(self.one("#filter-count").text, f"{len(names)} of 40")
        box.clear()
        box.send_keys(Keys.SPACE)
        self.assertEqual(len(self.browser.execute_script(SHOWN)), 40)

    def test_wide_tables_can_be_scrolled_with_the_keyboard(self):
        self.screen("phone")
        box = self.one(".wide:has(table.students)")
        self.browser.execute_script("arguments[0].focus()", box)
        self.focused().send_keys(Keys.ARROW_RIGHT)
        self.wait(lambda browser: browser.execute_script("return arguments[0].scrollLeft", box) > 0, 5)
        left = self.browser.execute_script("return arguments[0].getBoundingClientRect().left",
                                           self.one("table.students tbody th"))
        self.assertAlmostEqual(left, 16, delta=2, msg="names stay in sight")


class WithoutScripts(unittest.TestCase):
    """All content is there without JavaScript."""

    def test_all_rows_and_no_dead_controls(self):
        browser = browsing.open_browser(scripts=False)
        self.addCleanup(browser.quit)
        browser.get((FOLDER / "index.html").as_uri())
        rows = browser.find_elements(browsing.By.CSS_SELECTOR, "table.students tbody tr")
        self.assertEqual(len(rows), 40)
        self.assertTrue(all(row.is_displayed() for row in rows))
        self.assertFalse(browser.find_element(browsing.By.ID, "filter").is_displayed())
        self.assertEqual(browser.find_elements(browsing.By.TAG_NAME, "button"), [])
        for name in ("ungraded", "points", "lessons", "cases", "diagnoses", "stopped", "slowest", "students"):
            self.assertTrue(browser.find_element(browsing.By.ID, name).is_displayed(), name)


def main():
    global FOLDER, PICTURES
    if len(sys.argv) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program, source, PICTURES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    try:
        browsing.open_browser().quit()
    except Exception as problem:  # noqa: BLE001  whatever a machine without a browser says
        print(f"skipped: no Chromium that answers ({str(problem).splitlines()[0]})")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, source, folder], check=True)
        FOLDER = browsing.SITE = pathlib.Path(folder).resolve()
        PICTURES.mkdir(parents=True, exist_ok=True)
        return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
