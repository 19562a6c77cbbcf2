#!/usr/bin/env python3
"""Opens a built site in headless Chromium, as a reader would.

Usage: site_browser_test.py SITE [PICTURES]

Every page of the book is loaded at the widths of four screens, in light and dark, with no network: no error, no
formula that cannot be typeset, nothing wider than the screen, text with enough contrast. Then what a reader does:
clicks, searches, the keyboard, no JavaScript. With PICTURES, a folder, it keeps pictures of all pages there:
<page>_<width>_<colours>.png.
Exit status: 0 all well, or skipped (no Chromium, no Selenium), 1 something is wrong.
"""

import pathlib
import re
import sys
import unittest

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("skipped: no selenium (python3-selenium)")
    sys.exit(0)

from site_searches import SEARCHES

SITE = PICTURES = None
WIDTHS = {"wide": (1920, 1080), "desktop": (1400, 900), "tablet": (768, 1024), "phone": (390, 740)}
COLOURS = ["light", "dark"]
# Contrast of every piece of text with what lies behind it, by WCAG's formula: the pieces below 4.5, or 3 if large.
CONTRAST = r"""
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parse = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map((i) => top[i] * a + below[i] * (1 - a)); };
const colours = new Map();  // of what lies behind an element's text
const behind = (element) => {
  if (!element) return [255, 255, 255];
  if (!colours.has(element)) {
    const colour = parse(getComputedStyle(element).backgroundColor);
    colours.set(element, (colour[3] ?? 1) === 1 ? colour.slice(0, 3) : over(colour, behind(element.parentElement)));
  }
  return colours.get(element);
};
const found = new Map(), seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (seen.has(element) || !walker.currentNode.data.trim()) continue;
  seen.add(element);
  if (element.closest("script, style, noscript, .here, .copy, svg")) continue;
  if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
  const style = getComputedStyle(element), below = behind(element);
  const [a, b] = [light(over(parse(style.color), below)), light(below)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.49)) {
    const key = `${element.tagName}.${element.className} ${style.color} on ${below.map(Math.round)}`;
    if (!found.has(key)) found.set(key, `${ratio.toFixed(2)} ${key}: ${walker.currentNode.data.trim().slice(0, 30)}`);
  }
}
return [...found.values()];
"""
WIDER = r"""
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth <= width) return [];
return [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > width + 1)
  .slice(0, 5).map((e) => `${e.tagName}.${e.className}`);
"""
BROKEN_FORMULAS = r"""
const broken = [...document.querySelectorAll(".merror, [data-mjx-error], .MathJax_Error")].map((e) => e.textContent);
if (/Math Processing Error|Undefined control sequence/.test(document.body.textContent)) broken.push("an undefined command");
if (window.MathJax && MathJax.Hub)
  for (const jax of MathJax.Hub.getAllJax())
    if (jax.texError || /merror/.test(String(jax.root))) broken.push(`a TeX error in ${jax.originalText.slice(0, 60)}`);
const missing = [...document.querySelectorAll("script[type^='math/tex']")].filter(
  (s) => !s.previousElementSibling || !s.previousElementSibling.querySelector("svg"));
return broken.concat(missing.map((s) => `not typeset: ${s.textContent.slice(0, 40)}`));
"""


def open_browser(scripts=True):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    browser = webdriver.Chrome(options=options)
    browser.set_page_load_timeout(60)
    return browser


def book():
    """The pages of the book in order: those that the sidebar names, and those of the diagnostics."""
    def links(page, part):
        text = re.search(part, (SITE / page).read_text(encoding="utf-8"), re.DOTALL).group(0)
        return re.findall(r'href="([^"#]+\.html)"', text)

    chapters = links("index.html", r'<nav id="chapters".*?</nav>')
    return chapters + [page for page in dict.fromkeys(links("diagnostics.html", "<main.*</main>")) if page not in chapters
                       and page.startswith("diagnostic_")]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = open_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def screen(self, width="desktop"):
        pixels, height = WIDTHS[width]
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": pixels, "height": height, "deviceScaleFactor": 1, "mobile": width == "phone"})

    def colours(self, name):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, page):
        self.browser.get(f"{SITE.as_uri()}/{page}")
        self.wait_until_typeset()

    def wait_until_typeset(self):
        self.wait(lambda browser: browser.execute_script(
            "return document.readyState === 'complete' && (!window.MathJax || !MathJax.Hub || "
            "(MathJax.isReady && !MathJax.Hub.queue.pending && !MathJax.Hub.queue.running))"))

    def wait(self, condition, seconds=30):
        return WebDriverWait(self.browser, seconds, 0.05).until(condition)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def page(self):
        return self.browser.current_url.rsplit("/", 1)[1]

    def focused(self):
        return self.browser.switch_to.active_element


class Pages(Case):
    def test_every_page_of_the_book(self):
        typeset = 0
        for page in book():
            self.screen()
            self.open(page)
            typeset += len(self.all(".MathJax_SVG"))
            for width in WIDTHS:
                self.screen(width)
                with self.subTest(page=page, width=width):
                    self.assertEqual(self.browser.execute_script(BROKEN_FORMULAS), [], "formulas")
                    self.assertEqual(self.browser.execute_script(WIDER), [], "wider than the screen")
                    self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [], "console")
                    loaded = self.browser.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
                    self.assertEqual([name for name in loaded if not name.startswith(("file:", "data:", "blob:"))], [])
                for colours in COLOURS:
                    judged = width == "desktop" or (width == "phone" and colours == "dark")
                    if not judged and not PICTURES:
                        continue
                    self.colours(colours)
                    if judged:
                        with self.subTest(page=page, width=width, colours=colours):
                            self.assertEqual(self.browser.execute_script(CONTRAST), [], "contrast")
                    if PICTURES:
                        picture = PICTURES / f"{page.removesuffix('.html')}_{width}_{colours}.png"
                        self.assertTrue(self.browser.save_screenshot(str(picture)))
        self.assertGreater(typeset, 50, "formulas are typeset")

    def test_labels_of_the_reference_can_be_read_in_both_colours(self):
        page = next(file.name for file in sorted(SITE.glob("classcourse_*.html"))
                    if 'class="mlabel"' in file.read_text(encoding="utf-8"))
        self.screen()
        self.open(page)
        self.assertTrue(self.all("span.mlabel"))
        for colours in COLOURS:
            self.colours(colours)
            with self.subTest(page=page, colours=colours):
                self.assertEqual(self.browser.execute_script(CONTRAST), [], "contrast")

    def test_what_is_looked_for_would_be_found(self):
        self.screen("phone")
        self.open("lesson_05.html")
        self.browser.execute_script("""
            const add = (html) => document.querySelector("main").insertAdjacentHTML("beforeend", html);
            add('<p style="color: #999; background: #eee">faint</p>');
            add('<div style="width: 900px; height: 9px">wide</div>');
            add('<script type="math/tex; mode=display">l = 2</' + 'script>');""")
        self.assertTrue(any("faint" in text for text in self.browser.execute_script(CONTRAST)))
        self.assertTrue(self.browser.execute_script(WIDER))
        self.assertEqual(self.browser.execute_script(BROKEN_FORMULAS), ["not typeset: l = 2"])
        self.browser.execute_script("document.querySelector('main').insertAdjacentHTML('beforeend', "
                                    "'\\\\[ \\\\undefinedcommand \\\\]'); MathJax.Hub.Typeset();")
        self.wait(lambda browser: any("ndefined" in text for text in browser.execute_script(BROKEN_FORMULAS)), 20)


class Reader(Case):
    def setUp(self):
        self.screen()
        self.colours("light")

    def test_from_home_to_a_lesson_to_its_code(self):
        self.open("index.html")
        self.one("main a[href='lesson_09.html']").click()
        self.assertEqual(self.page(), "lesson_09.html")
        self.one(".files a[href='lesson_09_solution.html']").click()
        self.assertEqual(self.page(), "lesson_09_solution.html")
        self.assertIn("fold_scores", self.one("div.fragment").text)
        self.one("a[rel='up']").click()
        self.assertEqual(self.page(), "lesson_09.html")

    def test_from_a_topic_of_the_notes_to_the_paragraph_in_two_clicks(self):
        self.open("index.html")
        self.one("#chapters a[href='notes_map.html']").click()
        self.one("main td a[href^='lesson_13.html'][href*='#']").click()
        self.assertRegex(self.page(), r"^lesson_13\.html(\?.*)?#.+")
        self.wait_until_typeset()
        self.assert_in_sight("document.querySelector('.pointed') || document.getElementById(location.hash.slice(1))")

    def assert_in_sight(self, element):
        top = self.browser.execute_script(f"return ({element}).getBoundingClientRect().top")
        self.assertTrue(0 <= top < 800, f"{element} is at {top}")

    def test_the_words_that_a_link_points_at_are_shown(self):
        self.open("notes_map.html")
        link = self.one("main td a[href*='lesson_09.html?words='][href$='#on-the-machine']")
        words = re.search('"(.*)"', link.text).group(1)
        self.open(link.get_attribute("href").rsplit("/", 1)[1])
        self.assertIn(words, self.one(".pointed").text)
        self.assert_in_sight("document.querySelector('.pointed')")

    def test_pages_are_turned(self):
        self.open("lesson_01.html")
        self.one("a[rel='next']").click()
        self.assertEqual(self.page(), "lesson_02.html")
        self.one("a[rel='prev']").click()
        self.assertEqual(self.page(), "lesson_01.html")

    def search(self, words):
        self.one("body").send_keys("/")
        self.assertEqual(self.focused().get_attribute("id"), "search")
        self.focused().clear()
        self.focused().send_keys(words)
        return self.found_for(words)

    def found_for(self, words):
        self.wait(lambda _: self.one("#found").get_attribute("data-query") == words.strip(), 10)
        return self.browser.execute_script(
            "return [...document.querySelectorAll('#found a')].map((link) => link.href.split('/').pop())")

    def test_search_finds_words_and_lessons_come_first(self):
        self.open("index.html")
        for words, first in SEARCHES.items():
            with self.subTest(words=words):
                self.browser.execute_script(  # as pasted: the page looks once, and not for each letter
                    "const field = document.querySelector('#search'); field.focus(); field.value = arguments[0];"
                    "field.dispatchEvent(new Event('input', {bubbles: true}));", words)
                found = self.found_for(words)
                self.assertTrue(found, "something is found")
                self.assertRegex(found[0], rf"^({first})\.html")

    def test_search_with_the_keyboard(self):
        self.open("lesson_01.html")
        found = self.search("sliding window")
        self.focused().send_keys(Keys.ARROW_DOWN)
        self.assertTrue(self.focused().get_attribute("href").endswith(found[0]))
        self.focused().send_keys(Keys.ESCAPE)
        self.assertEqual(self.focused().get_attribute("id"), "search")
        self.assertFalse(self.one("#found").is_displayed())
        self.focused().send_keys(Keys.ENTER)

    def test_search_that_finds_nothing_says_so(self):
        self.open("index.html")
        self.assertEqual(self.search("zyxwv"), [])
        self.assertIn("Nothing has these words: zyxwv", self.one("#found").text)

    def test_search_that_finds_only_some_of_the_words_says_so(self):
        self.open("index.html")
        self.assertRegex(self.search("zyxwv sinks")[0], r"^lesson_13\.html")
        self.assertIn("one is missing", self.one("#found").text)

    def test_markup_in_a_query_stays_text(self):
        self.open("index.html")
        self.search("<img src=x onerror=alert(1)> softmax")
        self.assertEqual(self.all("#found img"), [])

    def test_colours_are_chosen_and_remembered(self):
        self.open("lesson_01.html")
        before = self.one("body").value_of_css_property("background-color")
        self.one(".theme").click()
        self.assertEqual(self.one(".theme").get_attribute("aria-pressed"), "true")
        self.assertNotEqual(self.one("body").value_of_css_property("background-color"), before)
        self.open("lesson_02.html")
        self.assertEqual(self.one(".theme").get_attribute("aria-pressed"), "true")
        self.one(".theme").click()

    def test_chapters_on_a_phone(self):
        self.screen("phone")
        self.open("lesson_05.html")
        self.assertFalse(self.one("#chapters").is_displayed())
        self.one(".menu").click()
        self.assertTrue(self.one("#chapters").is_displayed())
        self.assertEqual(self.focused().get_attribute("aria-current"), "page")
        self.focused().send_keys(Keys.ESCAPE)
        self.assertFalse(self.one("#chapters").is_displayed())
        self.one(".menu").click()
        self.one("#chapters a[href='lesson_06.html']").click()
        self.assertEqual(self.page(), "lesson_06.html")

    def test_focus_can_be_seen_and_the_first_stop_skips_to_the_text(self):
        self.open("lesson_09.html")
        self.one("body").send_keys(Keys.TAB)
        self.assertEqual(self.focused().text, "Skip to the text")
        for _ in range(25):
            element = self.focused()
            style = [element.value_of_css_property(name) for name in ("outline-style", "outline-width")]
            self.assertEqual(style[0], "solid", element.get_attribute("outerHTML")[:80])
            self.assertGreaterEqual(float(style[1].removesuffix("px")), 2)
            element.send_keys(Keys.TAB)

    def test_code_can_be_copied_without_its_line_numbers(self):
        self.open("lesson_01_solution.html")
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        button = self.one(".code .copy")
        self.browser.execute_script("arguments[0].click()", button)
        self.wait(lambda _: button.text == "Copied" or button.get_attribute("textContent") == "Copied", 5)
        copied = self.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))")
        source = pathlib.Path(__file__).resolve().parents[2] / "solutions/01_vector_add/vector_add.cu"
        self.assertEqual(copied.split(), source.read_text(encoding="utf-8").split())


class WithoutScripts(unittest.TestCase):
    def test_text_pictures_and_chapters_are_there(self):
        browser = open_browser(scripts=False)
        self.addCleanup(browser.quit)
        browser.get((SITE / "lesson_09.html").as_uri())
        self.assertTrue(browser.find_element(By.CSS_SELECTOR, "#chapters a[href='lesson_10.html']").is_displayed())
        self.assertFalse(browser.find_element(By.ID, "search").is_displayed())
        self.assertFalse(browser.find_element(By.CSS_SELECTOR, ".theme").is_displayed())
        browser.get((SITE / "steps.html").as_uri())
        self.assertGreater(len(browser.find_element(By.TAG_NAME, "main").text), 1000)


def main():
    global SITE, PICTURES
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    SITE, PICTURES, *_ = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]] + [None]
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
    try:
        open_browser().quit()
    except Exception as problem:  # noqa: BLE001  whatever a machine without a browser says
        print(f"skipped: no Chromium that answers ({str(problem).splitlines()[0]})")
        return 0
    return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
