#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks pages of `glucoport report` in a headless Chromium.

  report.py check PAGE…                   prints the faults of the pages, which are files or URLs; status 1 if there is one
  report.py prove PAGE                    damages the page in many ways; status 1 if a check misses a damage
  report.py shoot PAGE FOLDER             writes the screenshots of the sample report"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

CHECKS = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
WIDTHS = (360, 800, 1400)
# The sizes of paper in inches.
PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11)}
# Adds marks at the corners of each picture, and after the title of its block. The marks show where pictures
# and titles are in print.
MARK = """(() => {
  const pictures = [...document.querySelectorAll("svg")].filter(picture => !picture.closest(".narrow"))
  pictures.forEach((picture, index) => {
    const box = picture.viewBox.baseVal
    const mark = (name, x, y, anchor) => {
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text")
      text.textContent = `Q${index}${name}Q`
      text.setAttribute("x", x)
      text.setAttribute("y", y)
      text.setAttribute("font-size", "8")
      text.setAttribute("text-anchor", anchor)
      picture.append(text)
    }
    mark("top", 0, 12, "start")
    mark("end", box.width, box.height - 1, "end")
    const title = picture.closest(".block")?.querySelector("h3")
    if (title) title.append(` Q${index}headQ`)
  })
  return pictures.length
})()"""


def address(page):
    """The URL of a file. A URL is returned unchanged."""
    return str(page) if str(page).startswith("http") else Path(page).resolve().as_uri()


def on_screen(browser, page):
    """The faults of a page on screens of all widths, light and dark."""
    faults = []
    for width in WIDTHS:
        browser.resize(width)
        for scheme in ("light", "dark"):
            browser.prefer(scheme)
            browser.open(address(page))
            faults += [f"{width} {scheme}: {fault}" for fault in browser.value(CHECKS)]
            faults += [f"{width} {scheme}: message: {message}" for message in browser.messages]
            faults += [f"{width} {scheme}: request: {url[:60]}" for url in browser.requests[1:]]
    return faults


def named(browser):
    """The elements without a name for a screen reader, by the accessibility tree of the browser."""
    faults = []
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if role in ("image", "img", "table", "columnheader", "rowheader", "heading", "group"):
            if not node.get("name", {}).get("value") and not node.get("ignored"):
                faults.append(f"name: a {role} without one")
    return faults


def words_of(pdf):
    """The pages of a PDF, each with its size, and with its words and their boxes."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(pdf)
        file.flush()
        text = subprocess.run(["pdftotext", "-bbox", file.name, "-"], check=True, capture_output=True, text=True).stdout
    for page in re.split(r"<page ", text)[1:]:
        size = re.match(r'width="([\d.]+)" height="([\d.]+)"', page)
        words = re.findall(r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">([^<]*)<', page)
        yield [float(side) for side in size.groups()], [(*map(float, word[:4]), word[4]) for word in words]


def in_print(browser, page):
    """The faults of a page in print: truncated pictures, titles on another page than their picture, and words at the edge."""
    faults = []
    for name, (width, height) in PAPERS.items():
        browser.resize(800)
        browser.open(address(page))
        count = browser.value(MARK)
        places = {}
        for number, (size, words) in enumerate(words_of(browser.pdf(width, height)), 1):
            if not words:
                faults.append(f"{name}: page {number} is empty")
            for left, top, right, bottom, word in words:
                # 28 points are 10 mm. No printer needs a larger margin.
                if left < 28 or right > size[0] - 28 or top < 28 or bottom > size[1] - 28:
                    faults.append(f"{name}: page {number}: edge: '{word}'")
                for mark in re.findall(r"Q(\d+(?:top|end|head))Q", word):
                    places.setdefault(mark, []).append(number)
        for picture in range(count):
            pages = [places.get(f"{picture}{part}", []) for part in ("top", "end")]
            if len(pages[0]) != 1 or pages[0] != pages[1]:
                faults.append(f"{name}: picture {picture} is cut: {pages}")
            head = places.get(f"{picture}head", pages[0])
            if head != pages[0]:
                faults.append(f"{name}: picture {picture} is on page {pages[0]} and its title on {head}")
    return faults


def faults_of(browser, page):
    faults = on_screen(browser, page) + named(browser) + in_print(browser, page)
    return list(dict.fromkeys(faults))


# Each damage replaces a text of the page by another one. The last word is part of the fault that a check must
# report.
DAMAGES = [
    ("<html lang=\"en\">", "<html>", "language"),
    ("<main>", "<main><img src=\"https://example.com/x.png\" alt=\"\">", "active"),
    ("<main>", "<main><p onclick=\"x()\">x</p>", "active"),
    ("<main>", "<main><script>console.log(1)</script>", "message"),
    ("<main>", "<main><svg class=\"patterns\" aria-hidden=\"true\"><image href=\"file:///dev/null\"/></svg>", "message"),
    ("<main>", "<main><div style=\"width:90rem\">wide</div>", "message"),
    ("<meta http-equiv=\"Content-Security-Policy\"", "<link rel=\"stylesheet\" href=\"x.css\"><meta name=\"none\"", "request"),
    ("<main>", f"<main><p>{'M' * 300}</p>", "overflow"),
    ("<h2>", "<h4>", "heading"),
    ("<h1>", "<h1></h1><h1>", "heading"),
    ("<th scope=\"col\">", "<th>", "column"),
    ("<th scope=\"row\">", "<th>", "row"),
    ("<caption>", "<caption hidden>", "name"),
    (" aria-hidden=\"true\"", "", "picture"),
    ("<div class=\"reading\">", "<div class=\"other\">", "picture"),
    ("<section id=\"sensor\"", "<section id=\"ranges\"", "id"),
    ("tabindex=\"0\"", "", "keyboard"),
    ("<main>", "<main><p><font color=\"#999\">pale</font></p>", "contrast"),
    ("</svg>", "<text x=\"-20\" y=\"20\">outside</text></svg>", "cut"),
    ("</svg>", "<text x=\"100\" y=\"50\">one</text><text x=\"105\" y=\"52\">two</text></svg>", "covered"),
    ("viewBox=\"0 0 527.2", "viewBox=\"0 0 5272", "small"),
    ("viewBox=\"0 0 527.2 149\"", "viewBox=\"0 0 527.2 1490\"", "is cut"),
]


def prove(browser, page):
    """Checks that each damage is found by the right check."""
    text = page.read_text(encoding="utf-8")
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for before, after, word in DAMAGES:
            if before not in text:
                missed.append(f"the page has no {before}")
                continue
            damaged = Path(folder, "page.html")
            damaged.write_text(text.replace(before, after), encoding="utf-8")
            if not any(word in fault for fault in faults_of(browser, damaged)):
                missed.append(f"not found: {after[:70]} ({word})")
    return missed


def shoot(browser, page, folder):
    """Writes the screenshots of the sample report."""
    def at(selector):
        return browser.value(f"document.querySelector('{selector}').getBoundingClientRect().top + scrollY")
    for name, width, scheme, height, selector in [
            ("desktop", 1000, "light", 1250, "body"), ("dark", 1000, "dark", 1250, "body"),
            ("phone", 390, "light", 1100, "body")]:
        browser.resize(width)
        browser.prefer(scheme)
        browser.open(address(page))
        Path(folder, f"{name}.png").write_bytes(browser.picture(width, height, at(selector)))


def main(command, *arguments):
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(profile)
        try:
            if command == "shoot":
                shoot(browser, Path(arguments[0]), arguments[1])
                return 0
            if command == "prove":
                faults = prove(browser, Path(arguments[0]))
            else:
                faults = [f"{name}: {fault}" for name in arguments for fault in faults_of(browser, name)]
        finally:
            browser.close()
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
