# SPDX-License-Identifier: Apache-2.0
"""charts.py GYRE ROOT: the charts of every study are XML that a reader can use.

Titles, axes and a legend that fit the page; a light and a dark scheme with the same classes; lines told apart by dash and
marker, bars by pattern; every colour far enough from its ground (WCAG's contrast, 4.5 for text, 3 for lines).
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

NS = "{http://www.w3.org/2000/svg}"
WIDE = 7.6  # of a character of 13px, on average, at most


def small_runs(root):
    """(study, its command at the small size of the golden test)"""
    with open(os.path.join(root, "tests/golden/cli/cases.txt"), encoding="utf-8") as f:
        for line in f:
            m = re.match(r"study-([a-z]+): gyre study (\1 [^|]*)", line)
            if m:
                yield m.group(1), m.group(2).split()


def schemes(css):
    """The light and the dark rules, {class: colour}."""
    light, dark = css.split("@media (prefers-color-scheme:dark){")
    return [dict(re.findall(r"\.(\w+)\{(?:fill|stroke):(#\w{6})\}", part)) for part in (light, dark)]


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colour_flaws(css):
    light, dark = schemes(css)
    if set(light) != set(dark) or len(light) < 20:
        yield "the two schemes have other classes"
    for scheme in (light, dark):
        for name, colour in scheme.items():
            least = 0 if name in ("bg", "bgs", "grid") else 3 if name == "axis" or name[0] == "s" else 4.5
            if contrast(colour, scheme["bg"]) < least:
                yield f"{name} {colour} is too near its ground"


def outside(text, width, height):
    if text.get("transform"):
        return False
    x, y, length = float(text.get("x")), float(text.get("y")), WIDE * len(text.text or "")
    begin = {"start": 0, "middle": 0.5, "end": 1, None: 0}[text.get("text-anchor")] * length
    return x - begin < 0 or x - begin + length > width or not 0 < y < height


def flaws(svg):
    tree = ET.fromstring(svg)
    width, height = (float(n) for n in tree.get("viewBox").split()[2:])
    texts = list(tree.iter(NS + "text"))
    yield from (f"text outside the page: {t.text}" for t in texts if outside(t, width, height))
    if not tree.findtext(NS + "title") or not tree.findtext(NS + "desc"):
        yield "no title or description"
    if not any(t.get("class") == "title" for t in texts):
        yield "no chart"
    if len([t for t in texts if t.get("class") == "ink"]) < 2:
        yield "no names of axes"
    lines = {(p.get("class"), p.get("stroke-dasharray")) for p in tree.iter(NS + "path") if "line" in p.get("class", "")}
    if len({dash for _, dash in lines}) != len(lines) or len({c for c, _ in lines}) != len(lines):
        yield "lines are told apart by colour alone"
    yield from colour_flaws(tree.findtext(NS + "style"))


def main():
    gyre, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    found, seen = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chart.svg")
        for study, words in small_runs(root):
            seen += 1
            subprocess.run([gyre, "study", *words, "--svg", path], stdout=subprocess.DEVNULL, check=True)
            with open(path, encoding="utf-8") as f:
                found += [f"{study}: {flaw}" for flaw in flaws(f.read())]
    print("\n".join(found))
    print(f"{seen} studies, {len(found)} flaws")
    return 1 if found or seen < 13 else 0


sys.exit(main())
