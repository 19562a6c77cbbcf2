#!/usr/bin/env python3
"""Drives the interactive page "FlashAttention-2, step by step" in a headless Chromium.

Usage: steps_browser_test.py PAGE.html

PAGE.html is the built page, with steps_data.js, steps.js and steps.css beside it. Prints a line for each check; exit
status 0 if all hold, 1 otherwise. Without Selenium or Chromium it says so and exits with 0.
"""

import pathlib
import re
import sys
import tempfile

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: there is no Selenium for this Python")
    sys.exit(0)

# The numbers of boxes as they are shown, with null for what is not there; and which of a box's have a mark.
SHOWN = """
  return arguments[0].map(function (box) {
    return Array.from(document.querySelectorAll('#flash-steps [data-box="' + box + '"] tr')).filter(
      function (row) { return row.querySelector('th[scope=row]'); }).map(function (row) {
        return Array.from(row.querySelectorAll('td')).map(function (cell) {
          return cell.classList.contains('fs-none') ? null : cell.firstChild.textContent; }); }); });
"""
MARKED = """
  var mark = arguments[1];
  return Array.from(document.querySelectorAll('#flash-steps [data-box="' + arguments[0] + '"] tr')).filter(
    function (row) { return row.querySelector('th[scope=row]'); }).map(function (row) {
      return Array.from(row.querySelectorAll('td')).map(function (cell) { return cell.classList.contains(mark); }); });
"""
# Texts whose contrast with the nearest opaque background is below 4.5.
FAINT = """
  function rgb(text) { return (text.match(/[0-9.]+/g) || []).map(Number); }
  function light(c) {
    var l = c.slice(0, 3).map(function (v) {
      v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
  }
  var faint = [];
  document.querySelectorAll('#flash-steps *').forEach(function (node) {
    var text = Array.from(node.childNodes).filter(function (c) { return c.nodeType === 3 && c.textContent.trim(); });
    if (!text.length || node.closest('svg, .fs-aloud') || !node.getClientRects().length) return;
    var back = node, color;
    for (; back; back = back.parentElement) {
      color = rgb(getComputedStyle(back).backgroundColor);
      if (color.length === 3 || color[3] === 1) break;
    }
    if (!back) color = [255, 255, 255];
    var a = light(rgb(getComputedStyle(node).color)), b = light(color);
    var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(node.className + ': ' + node.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
  });
  return faint;
"""


def number(value):
    """As the page shows it: three decimals and a minus sign."""
    if value is None:
        return None
    if value == "-inf":
        return "−∞"
    digits = f"{abs(value):.3f}"
    return ("−" if value < 0 and digits != "0.000" else "") + digits


class Page:
    def __init__(self, browser, url):
        self.browser, self.url, self.failed = browser, url, 0
        self.data = None

    def check(self, what, holds, detail=""):
        print(("ok    " if holds else "FAIL  ") + what + ("" if holds or not detail else f": {detail}"))
        self.failed += 0 if holds else 1

    def open(self, fragment=""):
        self.browser.get("about:blank")  # so that the page is loaded anew, also if only the fragment differs
        self.browser.get(self.url + fragment)
        self.data = self.browser.execute_script("return window.flashSteps;")

    def press(self, *keys):
        chain = ActionChains(self.browser)
        for key in keys:
            chain = chain.send_keys(key)
        chain.perform()

    def where(self):
        """Name of the setting and number of the step, from 1."""
        name, step = self.browser.execute_script("var root = document.getElementById('flash-steps');"
                                                 "return [root.dataset.setting, Number(root.dataset.step)];")
        return name, step

    def setting(self):
        return self.setting_and_step()[0]

    def step(self):
        return self.setting_and_step()[1]

    def setting_and_step(self):
        name, step = self.where()
        setting = next(one for one in self.data["settings"] if one["name"] == name)
        return setting, setting["steps"][step - 1]

    def marked(self, box, name):
        return self.browser.execute_script(MARKED, box, name)

    def says(self):
        return self.browser.execute_script("return document.querySelector('#flash-steps [aria-live]').textContent;")

    def switch(self, name):
        """Whether a switch is on, and whether it cannot be moved."""
        node = f"document.querySelector('#flash-steps [data-switch={name}]')"
        return tuple(self.browser.execute_script(f"return {node}.getAttribute('{one}') === 'true';")
                     for one in ("aria-checked", "aria-disabled"))

    def wrong_numbers(self):
        """What the present step shows that is not in the data."""
        (setting, step), data = self.setting_and_step(), self.data
        size, dim = data["tile"], data["dim"]
        queries = [step["query_tile"] * size + row for row in range(size)]
        loaded = step["key_tile"] is not None and step["phase"] != "skip"
        keys = [step["key_tile"] * size + row for row in range(size)] if loaded else None

        def of_rows(matrix, width):
            return [[number(x) for x in (matrix[row] if matrix and matrix[row] else [None] * width)]
                    for row in range(size)]

        def column(values):
            return [values[row] if values else None for row in range(size)]

        stored = [query // size < step["query_tile"] or (query in queries and step["phase"] == "store")
                  for query in range(data["rows"])]
        expected = {
            "Q": [[number(x) for x in data["Q"][query]] for query in queries],
            "K": of_rows([data["K"][key] for key in keys] if keys else None, dim),
            "V": of_rows([data["V"][key] for key in keys] if keys else None, dim),
            "S": of_rows(step["S"], size),
            "P": of_rows(step["P"], size),
            "rows": [[number(x) for x in row] for row in
                     zip(step["m"], column(step["m_new"]), column(step["factor"]), step["l"])],
            "O": of_rows(step["O"], dim),
            "result": of_rows(step["result"], dim),
            "lse": [[number(x)] for x in column(step["lse"])],
            "memory": [[number(x) for x in setting["O"][query] + [setting["lse"][query]]] if stored[query]
                       else [None] * (dim + 1) for query in range(data["rows"])],
        }
        shown = dict(zip(expected, self.browser.execute_script(SHOWN, list(expected))))
        wrong = [f"{self.where()} {box}: {shown[box]}, not {want}" for box, want in expected.items() if shown[box] != want]
        if step["S"]:
            hidden = [[not setting["sees"][query][key] for key in keys] for query in queries]
            for box in ("S", "P") if step["P"] else ("S",):
                if self.marked(box, "fs-hidden") != hidden:
                    wrong.append(f"{self.where()} {box}: hidden {self.marked(box, 'fs-hidden')}, not {hidden}")
        return wrong


def plain(text):
    """A sentence without what is set as an index or an exponent."""
    return re.sub(r"[\s_^()]", "", text)


def run(page):
    browser = page.browser
    page.open()
    page.check("the data has four settings",
               [one["name"] for one in page.data["settings"]] == ["all", "causal", "window", "sinks"])
    page.check("the page begins with the first step of all keys", page.where() == ("all", 1), page.where())

    # By keyboard, with the focus on nothing in particular.
    browser.execute_script("document.getElementById('flash-steps').scrollIntoView();")
    last = len(page.data["settings"][0]["steps"])
    page.press(Keys.ARROW_RIGHT)
    page.check("the right arrow goes on", page.where() == ("all", 2), page.where())
    page.press(Keys.ARROW_LEFT)
    page.check("the left arrow goes back", page.where() == ("all", 1), page.where())
    page.press(Keys.ARROW_LEFT)
    page.check("nothing comes before the first step", page.where() == ("all", 1), page.where())
    page.press(Keys.END)
    page.check("End goes to the last step", page.where() == ("all", last), page.where())
    page.press(Keys.ARROW_RIGHT)
    page.check("nothing comes after the last step", page.where() == ("all", last), page.where())
    page.press(Keys.HOME)
    page.check("Home goes to the first step", page.where() == ("all", 1), page.where())

    # Keys that are meant for something else.
    browser.execute_script("var x = document.createElement('input'); x.id = 'elsewhere'; document.body.prepend(x);"
                           "x.focus();")
    page.press("c", Keys.ARROW_RIGHT, Keys.END)
    typed = browser.execute_script("return document.getElementById('elsewhere').value;")
    page.check("keys in an input belong to the input", page.where() == ("all", 1) and typed == "c",
               (page.where(), typed))
    browser.execute_script("document.getElementById('elsewhere').remove();")

    # By buttons and tiles.
    browser.execute_script("document.querySelector('#flash-steps [data-go=next]').focus();")
    page.press(Keys.ENTER)
    page.check("the button Next goes on", page.where() == ("all", 2), page.where())
    browser.execute_script("document.querySelector('#flash-steps [data-tile=\"2\"]').click();")
    page.check("a tile of queries can be chosen", (page.step()["query_tile"], page.step()["phase"]) == (2, "load"))

    # Every step of every setting.
    for name, keys in (("all", ""), ("causal", "c"), ("window", "w"), ("sinks", "s")):
        place = (page.step()["query_tile"], page.step()["key_tile"])
        page.press(*keys)
        page.check(f"the keys lead to the setting {name}, at the same place",
                   page.where()[0] == name and (page.step()["query_tile"], page.step()["key_tile"]) == place,
                   page.where())
        page.press(Keys.HOME)
        wrong, silent, skips, lines, steps = [], [], 0, set(), page.setting()["steps"]
        for index, step in enumerate(steps):
            if page.where() != (name, index + 1):
                wrong.append(f"step {index + 1} is not there, but {page.where()}")
                break
            wrong += page.wrong_numbers()
            told = plain(page.says())
            silent += [sentence for sentence in step["says"] if plain(sentence) not in told]
            skips += "noqueryofthistileseesthesekeys" in told
            line = browser.execute_script("return Array.from(document.querySelectorAll('#flash-steps .fs-on')).map("
                                          "function (line) { return line.getAttribute('data-line'); });")
            lines.add(line == [step["phase"]])
            page.press(Keys.ARROW_RIGHT)
        page.check(f"{name}: the numbers of all {len(steps)} steps are those of the data, hidden ones marked",
                   not wrong, wrong[:1])
        page.check(f"{name}: each step is told in words", not silent, silent[:1])
        expected = sum(step["phase"] == "skip" for step in steps)
        page.check(f"{name}: {expected} tiles are told to be skipped", skips == expected, skips)
        page.check(f"{name}: the line of the algorithm is the step's", lines == {True})
        if name == "window":
            page.check("the window fixes the causal switch", page.switch("causal") == (True, True))
        if name in ("all", "causal"):
            page.check(f"{name}: without a window, the sinks are off and fixed", page.switch("sinks") == (False, True))
        browser.execute_script("document.querySelector('#flash-steps [data-tile=\"1\"]').click();")
    page.press("w")
    page.check("without the window, the mask is causal as before", page.where()[0] == "causal", page.where())

    # Numbers that change.
    page.open("#step=8")
    changed = page.marked("rows", "fs-changed")
    before, now = page.setting()["steps"][6], page.step()
    page.check("what the step changes is marked, and nothing else", changed == [
        [False, False, True, before["l"][row] != now["l"][row]] for row in range(2)], changed)
    page.check("the mark is more than a colour", browser.execute_script(
        "var s = getComputedStyle(document.querySelector('#flash-steps td.fs-changed'));"
        "return Number(s.fontWeight) >= 600 && parseFloat(s.borderTopWidth) >= 2;"))

    # The address.
    page.open("#step=17&causal=1")
    page.check("the address names a step and a mask", page.where() == ("causal", 17), page.where())
    page.press("w", "s", Keys.ARROW_RIGHT)
    there = page.where()
    browser.refresh()
    page.check("a reload comes back to the same step", page.where() == there and there[0] == "sinks",
               (page.where(), there))
    browser.execute_script("location.hash = '#step=5';")
    browser.execute_async_script("setTimeout(arguments[0], 100);")
    page.check("a link on the page changes the step", page.where() == ("all", 5), page.where())
    page.open("#step=99999&window=1")
    page.check("a step beyond the last is the last", page.where() == ("window", len(page.setting()["steps"])))
    page.open("#the-same-in-words")
    page.check("another fragment is left alone", page.where() == ("all", 1) and browser.execute_script(
        "return location.hash;") == "#the-same-in-words")

    # Sizes and colours.
    for width in (360, 1280):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
        for theme in ("light-mode", "dark-mode"):
            faint, wide = [], []
            for fragment in ("#step=9", "#step=14&window=1", "#step=51&window=1&sinks=1"):
                page.open(fragment)
                browser.execute_script("document.documentElement.classList.remove('light-mode', 'dark-mode');"
                                       "document.documentElement.classList.add(arguments[0]);"
                                       "document.head.appendChild(Object.assign(document.createElement('style'),"
                                       "{textContent: '#flash-steps * { transition: none !important; }'}));", theme)
                faint += browser.execute_script(FAINT)
                wide += browser.execute_script(
                    "var w = document.documentElement; return w.scrollWidth > w.clientWidth ? [w.scrollWidth] : [];")
            page.check(f"{width} px, {theme}: nothing sticks out to the side", not wide, wide)
            page.check(f"{width} px, {theme}: contrast of at least 4.5", not faint, faint[:3])
        small = browser.execute_script(
            "return Array.from(document.querySelectorAll('#flash-steps button')).map(function (b) {"
            "var r = b.getBoundingClientRect(); return [b.textContent, r.width, r.height]; }).filter(function (b) {"
            "return b[1] < 44 || b[2] < 44; });")
        page.check(f"{width} px: buttons have at least 44 px", not small, small)

    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    page.check("the console has no errors", not errors, errors[:2])


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_file():
        sys.exit("usage: steps_browser_test.py PAGE.html")
    options = Options()
    with tempfile.TemporaryDirectory() as profile:
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900",
                         f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            browser = webdriver.Chrome(options=options)
        except (WebDriverException, OSError) as error:
            print(f"skipped: Chromium does not start: {str(error).splitlines()[0]}")
            return 0
        try:
            page = Page(browser, pathlib.Path(sys.argv[1]).resolve().as_uri())
            run(page)
        finally:
            browser.quit()
    return 1 if page.failed else 0


if __name__ == "__main__":
    sys.exit(main())
