#!/usr/bin/env python3
"""Drives the interactive pages "FlashAttention-2, step by step" and its backward pass in a headless Chromium.

Usage: steps_browser_test.py PAGE.html

PAGE.html is the built page of the forward pass, with steps_backward.html and their scripts beside it. Prints a line for each check; exit
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

# All that a step shows: the numbers of boxes, with null for what is not there; the hidden ones of S and P; what must
# not move from step to step; what the algorithm says; the titles of the tile's keys; the place on the map.
SHOWN = """
  var root = document.getElementById('flash-steps');
  function texts(choice) {
    return Array.from(root.querySelectorAll(choice)).map(function (node) { return node.textContent.trim(); });
  }
  function cells(box, of) {
    return Array.from(root.querySelectorAll('[data-box="' + box + '"] tr')).filter(function (row) {
      return row.querySelector('th[scope=row]'); }).map(function (row) {
        return Array.from(row.querySelectorAll('td')).map(of); });
  }
  return {
    where: [root.dataset.setting, Number(root.dataset.step)],
    told: root.querySelector('[aria-live]').textContent,
    boxes: Array.from(root.querySelectorAll('[data-box]')).reduce(function (all, node) {
      var box = node.getAttribute('data-box');
      all[box] = cells(box, function (cell) {
        return cell.classList.contains('fs-none') ? null : cell.firstChild.textContent; });
      return all; }, {}),
    hidden: ['S', 'P'].map(function (box) {
      return cells(box, function (cell) { return cell.classList.contains('fs-hidden'); }); }),
    places: ['[data-go=next]', '[data-go=last]', '[data-box=rows]', '[data-box=O]', '[data-box=S]', '[data-box=result]',
             '[data-box=V]', '[data-box=Q]', '[data-box=memory]'].map(function (choice) {
      var box = root.querySelector(choice).getBoundingClientRect();
      return [box.left, box.top - root.getBoundingClientRect().top].map(Math.round); }),
    lines: Array.from(root.querySelectorAll('.fs-on')).map(function (line) { return line.getAttribute('data-line'); }),
    guards: texts('.fs-acts .fs-guard'),
    titles: ['S', 'P'].map(function (box) { return texts('[data-box=' + box + '] th[scope=col]'); }).concat(
      ['K', 'V'].map(function (box) { return texts('[data-box=' + box + '] th[scope=row]'); })),
    tile: Array.from(root.querySelectorAll('[data-place][aria-current]')).map(function (node) {
      return node.getAttribute('data-place'); })
  };
"""
MARKED = """
  var mark = arguments[1];
  return Array.from(document.querySelectorAll('#flash-steps [data-box="' + arguments[0] + '"] tr')).filter(
    function (row) { return row.querySelector('th[scope=row]'); }).map(function (row) {
      return Array.from(row.querySelectorAll('td')).map(function (cell) { return cell.classList.contains(mark); }); });
"""
# The earlier values that a box shows, with null for none, as they are read aloud.
EARLIER = """
  return Array.from(document.querySelectorAll('#flash-steps [data-box="' + arguments[0] + '"] tr')).filter(
    function (row) { return row.querySelector('th[scope=row]'); }).map(function (row) {
      return Array.from(row.querySelectorAll('td')).map(function (cell) {
        var was = cell.querySelector('.fs-was');
        return was && !was.hasAttribute('aria-hidden') ? was.textContent : null; }); });
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

    def look(self, width, height, fragment):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.open(fragment)

    def out_of_sight(self, choices):
        """What of these is not wholly on the screen, below the bar of the site."""
        return self.browser.execute_script("""
          var bar = document.querySelector('#flash-steps .fs-nav');
          var top = parseFloat(getComputedStyle(bar).top) || 0;
          return arguments[0].filter(function (choice) {
            return Array.from(document.querySelectorAll('#flash-steps ' + choice)).some(function (node) {
              var box = node.getBoundingClientRect();
              return box.top < top || box.bottom > window.innerHeight || box.height === 0; }); });""", choices)

    def marked(self, box, name):
        return self.browser.execute_script(MARKED, box, name)

    def switch(self, name):
        """Whether a switch is on, and whether it cannot be moved."""
        node = f"document.querySelector('#flash-steps [data-switch={name}]')"
        return tuple(self.browser.execute_script(f"return {node}.getAttribute('{one}') === 'true';")
                     for one in ("aria-checked", "aria-disabled"))

    def wrong_numbers(self, seen, setting, step):
        """What is shown (a result of SHOWN) of a step and is not in the data."""
        data = self.data
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
        wrong = [f"{box}: {seen['boxes'][box]}, not {want}" for box, want in expected.items()
                 if seen["boxes"][box] != want]
        if step["S"]:
            hidden = [[not setting["sees"][query][key] for key in keys] for query in queries]
            wrong += [f"{box}: hidden {marked}, not {hidden}" for box, marked in zip("SP", seen["hidden"])
                      if step[box] and marked != hidden]
        wanted = [f"k{key}" for key in keys] if keys else None
        if seen["titles"] != ([wanted] * 4 if keys else [[], [], ["", ""], ["", ""]]):
            wrong.append(f"titles of keys: {seen['titles']}")
        if seen["tile"] != ([] if step["key_tile"] is None else [f"{step['query_tile']}-{step['key_tile']}"]):
            wrong.append(f"the map is at {seen['tile']}")
        guarded = step["phase"] in ("rescale", "weights") and "-inf" in step["m_new"]
        if seen["guards"] != (["(0 if mnew = −∞);"] if guarded else []):
            wrong.append(f"guards against NaN: {seen['guards']}")
        return [f"{seen['where']} {what}" for what in wrong]


def plain(text):
    """A sentence without what is set as an index or an exponent."""
    return re.sub(r"[\s_^()]", "", text)


def run(page):
    browser = page.browser
    page.open()
    page.check("the data has four settings, one with a tail, and three slips",
               [one["name"] for one in page.data["settings"]] ==
               ["all", "causal", "window", "sinks", "tail", "output_not_rescaled", "tail_not_hidden", "base_2"])
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

    browser.execute_script("document.querySelector('#flash-steps [data-place=\"3-1\"]').click();")
    page.check("a tile of the map goes to its first step", (page.step()["query_tile"], page.step()["key_tile"],
                                                           page.step()["phase"]) == (3, 1, "scores"), page.where())
    page.check("tiles of the map are buttons with names", browser.execute_script(
        "return Array.from(document.querySelectorAll('#flash-steps [data-place]')).map(function (node) {"
        "return node.tagName + ' ' + node.getAttribute('aria-label'); });") == [
            f"BUTTON queries {2 * i}, {2 * i + 1}, keys {2 * j}, {2 * j + 1}" for i in range(4) for j in range(4)])

    # Every step of every setting.
    for name, keys in (("all", ""), ("causal", "c"), ("window", "w"), ("sinks", "s")):
        place = (page.step()["query_tile"], page.step()["key_tile"])
        page.press(*keys)
        page.check(f"the keys lead to the setting {name}, at the same place",
                   page.where()[0] == name and (page.step()["query_tile"], page.step()["key_tile"]) == place,
                   page.where())
        page.press(Keys.HOME)
        setting = page.setting()
        wrong, silent, skips, guards, lines, places, steps = [], [], 0, 0, set(), set(), setting["steps"]
        for index, step in enumerate(steps):
            seen = browser.execute_script(SHOWN)
            if seen["where"] != [name, index + 1]:
                wrong.append(f"step {index + 1} is not there, but {seen['where']}")
                break
            wrong += page.wrong_numbers(seen, setting, step)
            told = plain(seen["told"])
            silent += [sentence for sentence in step["says"] if plain(sentence) not in told]
            skips += "noqueryofthistileseesthesekeys" in told
            lines.add(seen["lines"] == [step["phase"]])
            guards += len(seen["guards"])
            places.add(str(seen["places"]))
            page.press(Keys.ARROW_RIGHT)
        page.check(f"{name}: the numbers of all {len(steps)} steps are those of the data, hidden ones marked",
                   not wrong, wrong[:1])
        page.check(f"{name}: each step is told in words", not silent, silent[:1])
        expected = sum(step["phase"] == "skip" for step in steps)
        page.check(f"{name}: {expected} tiles are told to be skipped", skips == expected, skips)
        page.check(f"{name}: the line of the algorithm is the step's", lines == {True})
        page.check(f"{name}: no button and no panel moves from step to step", len(places) == 1, sorted(places)[:2])
        if name == "window":
            page.check("window: the line shows the guard against NaN where it acts", guards > 0)
        if name == "window":
            page.check("the window fixes the causal switch", page.switch("causal") == (True, True))
        if name in ("all", "causal"):
            page.check(f"{name}: without a window, the sinks are off and fixed", page.switch("sinks") == (False, True))
        browser.execute_script("document.querySelector('#flash-steps [data-tile=\"1\"]').click();")
    page.press("w")
    page.check("without the window, the mask is causal as before", page.where()[0] == "causal", page.where())

    # The first rescale.
    for index, fragment in enumerate(("#step=1", "#step=1&causal=1", "#step=1&window=1", "#step=1&window=1&sinks=1")):
        page.open(fragment)
        steps = page.data["settings"][index]["steps"]
        first = next(n for n, step in enumerate(steps, 1)
                     if step["phase"] == "rescale" and any(0 < factor < 1 for factor in step["factor"]))
        browser.execute_script("document.querySelector('#flash-steps [data-go=rescale]').click();")
        page.check(f"First rescale goes to step {first}", page.where()[1] == first, page.where())
    page.press(Keys.HOME, "r")
    page.check("and so does its key", page.where()[1] == first, page.where())
    browser.execute_script("window.flashSteps.settings.forEach(function (one) { one.first_rescale = null; });")
    page.press("w")
    page.check("without a rescale there is no such button", browser.execute_script(
        "return document.querySelector('#flash-steps [data-go=rescale]').getClientRects().length;") == 0)

    # Keys and sight.
    page.open()
    browser.execute_script("document.body.style.paddingTop = '1000px';")  # so that there is something above it
    for share, expected in ((0.25, 1), (0.75, 2)):  # of the window, with the widget's head in it
        browser.execute_script("window.scrollTo({behavior: 'instant', top: window.scrollY + document.getElementById("
                               "'flash-steps').getBoundingClientRect().top - (1 - arguments[0]) * innerHeight});",
                               share)
        page.press(Keys.ARROW_RIGHT)
        page.check(f"with the widget on {share:.0%} of the window, keys go to step {expected}",
                   page.where()[1] == expected, page.where())
    browser.execute_script("document.querySelector('#flash-steps [data-go=next]').focus({preventScroll: true});"
                           "window.scrollTo({behavior: 'instant', top: 0});")
    page.press(Keys.ARROW_RIGHT)
    page.check("with the focus in the widget, keys act wherever it is", page.where()[1] == 3, page.where())

    # Numbers that change.
    page.open("#step=8")
    changed = page.marked("rows", "fs-changed")
    before, now = page.setting()["steps"][6], page.step()
    page.check("what the step changes is marked, and nothing else", changed == [
        [False, False, True, before["l"][row] != now["l"][row]] for row in range(2)], changed)
    page.check("earlier values are beside what changes, for the ear too", (
        browser.execute_script(EARLIER, "rows"), browser.execute_script(EARLIER, "O")) == (
            [[None, None, None, f", was {number(before['l'][row])}"] for row in range(2)],
            [[f", was {number(value)}" for value in before["O"][row]] for row in range(2)]))
    page.check("earlier values are struck", browser.execute_script(
        "return getComputedStyle(document.querySelector('#flash-steps .fs-was .fs-struck')).textDecorationLine;")
               == "line-through")
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
            for fragment in ("#step=9", "#step=14&window=1", "#step=51&window=1&sinks=1", "#step=18&if=base_2"):
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

    # What is on the screen together.
    page.look(1280, 900, "#step=8")
    browser.execute_script("document.querySelector('h1.title').scrollIntoView({behavior: 'instant'});")
    page.check("1280 x 900: the sentences, m, l and O are on the first screen",
               not page.out_of_sight([".fs-says", "[data-box=rows]", "[data-box=O]"]),
               page.out_of_sight([".fs-says", "[data-box=rows]", "[data-box=O]"]))
    for width, height, with_all in ((360, 740, False), (390, 844, True)):
        lost, moved = [], set()
        page.look(width, height, "#step=1")
        for step in (2, 3, 4, 5, 6, 7, 8, 9, 13):
            browser.execute_async_script("var done = arguments[1]; window.addEventListener('hashchange', function () {"
                                         "setTimeout(done); }, {once: true}); location.hash = arguments[0];",
                                         f"#step={step}")
            browser.execute_script("var bar = document.querySelector('#flash-steps .fs-nav');"
                                   "window.scrollTo({behavior: 'instant', top: window.scrollY - parseFloat("
                                   "getComputedStyle(bar).top) + bar.parentNode.querySelector("
                                   "'.fs-bar').getBoundingClientRect().bottom});")
            changed = [f"[data-box={box}] td.fs-changed" for box in ("rows", "O", "S", "P")]
            algorithm = [".fs-line"] if with_all else [".fs-line.fs-on"]
            lost += [(step, what) for what in page.out_of_sight([".fs-nav", ".fs-says"] + algorithm + changed)]
            moved.add(str(browser.execute_script(SHOWN)["places"]))
        which = "the algorithm" if with_all else "its line"
        page.check(f"{width} x {height}: the sentences, {which} and what the step changes are on one screen", not lost, lost)
        page.check(f"{width} x {height}: no button and no panel moves from step to step", len(moved) == 1,
                   sorted(moved)[:2])

    # Paper.
    page.look(700, 1000, "#step=9")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    cut = browser.execute_script("""
      return Array.from(document.querySelectorAll('div.contents, div.contents *')).filter(function (node) {
        if (!node.getClientRects().length || node.closest('.fs-aloud')) return false;
        var cut = getComputedStyle(node).overflowX !== 'visible' && !node.closest('svg') &&
          node.scrollWidth > node.clientWidth + 1;
        return cut || node.getBoundingClientRect().right > window.innerWidth + 1;
      }).map(function (node) { return node.tagName + '.' + node.getAttribute('class'); });""")
    page.check("print: nothing is cut", not cut, cut[:5])
    page.check("print: the controls are hidden, the step and the mask are told", browser.execute_script("""
      var seen = function (node) { return node.getClientRects().length > 0; };
      var root = document.getElementById('flash-steps');
      return [Array.from(root.querySelectorAll('button, kbd')).filter(seen).length,
              root.querySelector('.fs-nav').innerText.replace(/\\s+/g, ' ').trim()];""") == [
                  0, f"Step 9 of {last} Mask: none"], browser.execute_script(
                      "return document.querySelector('#flash-steps .fs-nav').innerText;"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    # Without JavaScript.
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get("about:blank")
    browser.get(page.url)
    text = browser.find_element("css selector", "div.textblock").text
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    page.check("without JavaScript the page sends to the words, and speaks of no switch",
               "JavaScript" in text and "The same in words" in text and "switch" not in text and "button" not in text)

    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    page.check("the console has no errors", not errors, errors[:2])


# The cells that are marked as wrong, as [what is shown, what is said to be right].
WRONG = """
  return Array.from(document.querySelectorAll('#flash-steps [data-box="' + arguments[0] + '"] td.fs-wrong')).map(
    function (cell) { return [cell.firstChild.textContent, cell.title.replace('right would be ', '')]; });
"""


def run_slips(page):
    """The mistakes: wrong numbers beside right ones, and the report."""
    browser = page.browser
    page.open()
    slips = [one for one in page.data["settings"] if one["slip"] != "none"]
    reports = browser.execute_script("return window.flashReports;")
    page.check("each slip has a report", sorted(reports) == sorted(one["name"] for one in slips), sorted(reports))
    names = browser.execute_script("return Array.from(document.querySelectorAll('#flash-steps .fs-select option')).map("
                                   "function (one) { return one.value; });")
    page.check("each slip can be chosen, and none", names == [""] + [one["name"] for one in slips], names)
    for slip in slips:
        name, right = slip["name"], next(one for one in page.data["settings"] if one["name"] == slip["right"])
        page.open("#step=18")
        browser.execute_script("var box = document.querySelector('#flash-steps .fs-select'); box.value = arguments[0];"
                               "box.dispatchEvent(new Event('change'));", name)
        page.check(f"{name}: choosing it stays at the same step", page.where() == (name, 18), page.where())
        for box, of in (("O", "O"), ("result", "result"), ("lse", "lse")):
            wrong, good = slip["steps"][17][of], right["steps"][17][of]
            if of == "lse":
                wrong, good = [[x] for x in wrong], [[x] for x in good]
            expected = [[number(a), number(b)] for one, other in zip(wrong, good) for a, b in zip(one, other)
                        if number(a) != number(b)]
            seen = browser.execute_script(WRONG, box)
            page.check(f"{name}: wrong numbers of {box} have the right ones beside them", seen == expected, (seen, expected))
        report = browser.execute_script("var box = document.querySelector('#flash-steps .fs-report');"
                                        "return box.getClientRects().length ? box.querySelector('pre').textContent : null;")
        page.check(f"{name}: its report is shown", report == reports[name] and len(report) > 200, report)
        page.check(f"{name}: nothing is asked of wrong numbers", browser.execute_script(
            "return !document.querySelector('#flash-steps .fs-ask').getClientRects().length;"))
        page.check(f"{name}: the algorithm shows the mistake", browser.execute_script(
            "return document.querySelectorAll('#flash-steps .fs-mistaken').length;") in (1, 2))
        page.check(f"{name}: the masks wait", page.switch("causal") == (False, True), page.switch("causal"))
        browser.refresh()
        page.check(f"{name}: a reload comes back to it", page.where() == (name, 18), page.where())
    page.open("#step=18")
    page.check("without a slip no number is wrong and no report is shown", not browser.execute_script(WRONG, "O")
               and browser.execute_script("return document.querySelector('#flash-steps .fs-report').hidden;"))


def run_questions(page):
    """The question on the next step: a right answer, a wrong one, none, and the switch."""
    browser = page.browser

    def choose(index):
        browser.execute_script(f"var node = document.querySelector('#flash-steps [data-choice=\"{index}\"]');"
                               "node.focus(); node.click();")

    def verdict():
        return browser.execute_script("var node = document.querySelector('#flash-steps .fs-verdict');"
                                      "return node && node.textContent;")

    def shown():
        return browser.execute_script("return Array.from(document.querySelectorAll('#flash-steps .fs-choice')).map("
                                      "function (node) { return node.textContent; });")

    page.open("#step=7")
    asks = page.setting()["steps"][7]["asks"]
    page.check("the question is on the step to come", shown() == [number(one["value"]) for one in asks["choices"]], shown())
    right, wrong = asks["right"], (asks["right"] + 1) % len(asks["choices"])
    choose(right)
    told = verdict()
    page.check("a right answer goes on and is called right", page.where() == ("all", 8) and told.startswith("✓ ")
               and number(asks["choices"][right]["value"]) in told, (page.where(), told))
    page.press(Keys.ARROW_LEFT)
    page.check("going elsewhere takes the verdict away", verdict() is None, verdict())
    choose(wrong)
    told = verdict()
    page.check("a wrong answer goes on, and says what it is and what is right",
               page.where() == ("all", 8) and told.startswith("✗ ") and number(asks["choices"][wrong]["value"]) in told
               and number(asks["choices"][right]["value"]) in told, (page.where(), told))
    page.press(Keys.ARROW_RIGHT)
    page.check("who does not answer goes on as well", page.where() == ("all", 9) and verdict() is None)
    page.check("the focus stays with the questions", browser.execute_script(
        "return document.querySelector('#flash-steps .fs-ask').contains(document.activeElement);"))
    page.press("q")
    page.check("questions can be turned off", browser.execute_script(
        "return document.querySelector('#flash-steps .fs-ask').getClientRects().length;") == 0
        and page.switch("ask") == (False, False))
    browser.refresh()
    page.check("and stay off after a reload", page.switch("ask") == (False, False) and page.where() == ("all", 9))
    browser.execute_script("document.querySelector('#flash-steps [data-switch=ask]').focus();")
    page.press("q")
    page.check("and on again", shown() and page.switch("ask") == (True, False))


def run_backward(page):
    """Each step of the backward pass shows the numbers of the data."""
    browser = page.browser
    browser.get(page.url.replace("steps.html", "steps_backward.html"))
    data = browser.execute_script("return window.flashBackward;")
    show = SHOWN.replace("flash-steps", "flash-backward")
    show = show[:show.index("    hidden: [")] + "    where: [root.dataset.setting, Number(root.dataset.step)],\n" + \
        "    on: root.querySelectorAll('.fs-on').length };"
    wrong, size = [], data["tile"]
    for setting in data["settings"]:
        browser.get("about:blank")
        browser.get(page.url.replace("steps.html", "steps_backward.html") + "#step=1" +
                    ("&causal=1" if setting["name"] == "causal" else ""))
        for count, step in enumerate(setting["steps"], 1):
            seen = browser.execute_script(show)
            where = [setting["name"], count]
            none = [[None] * size] * size
            expected = {box: [[number(x) for x in row] for row in step[box]] if step[box] else none
                        for box in ("S", "P", "dP", "dS", "dV", "dK", "dQ")}
            expected["rows"] = [[number(step[of][row]) if step[of] else None for of in ("lse", "delta")]
                                for row in range(size)]
            wrong += [(where, box, seen["boxes"][box]) for box in expected if seen["boxes"][box] != expected[box]]
            if seen["where"] != where or seen["on"] != 1 or plain(step["says"][0]) not in plain(seen["told"]):
                wrong.append((where, seen["where"], seen["on"], seen["told"]))
            browser.execute_script("document.querySelector('#flash-backward [data-go=next]').click();")
        memory = [[number(setting["delta"][row])] + [number(x) for of in ("dQ", "dK", "dV") for x in setting[of][row]]
                  for row in range(data["rows"])]
        if seen["boxes"]["memory"] != memory:
            wrong.append((setting["name"], seen["boxes"]["memory"]))
    page.check("backward: every step shows its numbers, its words and one line of the algorithm", not wrong, wrong[:2])
    for width in (390, 1280):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500})
        for theme in ("light-mode", "dark-mode"):
            browser.execute_script("document.documentElement.classList.remove('light-mode', 'dark-mode');"
                                   "document.documentElement.classList.add(arguments[0]);", theme)
            faint = browser.execute_script(FAINT.replace("flash-steps", "flash-backward"))
            page.check(f"backward, {width} px, {theme}: contrast of at least 4.5", not faint, faint[:3])
        page.check(f"backward, {width} px: nothing sticks out to the side", browser.execute_script(
            "var w = document.documentElement; return w.scrollWidth <= w.clientWidth;"))


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
            for width in (1280, 390):
                page.look(width, 900, "")
                run_slips(page)
            run_questions(page)
            run_backward(page)
        finally:
            browser.quit()
    return 1 if page.failed else 0


if __name__ == "__main__":
    sys.exit(main())
