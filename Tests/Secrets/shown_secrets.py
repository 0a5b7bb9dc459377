"""Looks for a secret in everything that oprun has written into this directory, however it is escaped there, and
checks that each file is what its format demands.

    shown_secrets.py SECRET FILE...

Each file is named for its format: `NAME.json`, `.ndjson`, `.xml`, `.html`, `.prom`; anything else is text.
"""

import base64
import hashlib
import html
import json
import re
import sys
import xml.etree.ElementTree
from urllib.parse import unquote

# What stands in front of the secret wherever it is planted: a secret may be a word that oprun says, too.
PLANTED = "at:"


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from strings(item)


def unescaped(text):
    """The text with what JSON, oprun and XML write for a character."""
    short = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

    def character(match):
        number = match.group(1) or match.group(2)
        return chr(int(number, 16)) if number else short.get(match.group(3), match.group(3))

    return re.sub(r'\\u\{([0-9a-f]+)\}|\\u([0-9a-fA-F]{4})|\\([bfnrt"\\/])', character, html.unescape(text))


def readings(text):
    yield text
    once = unescaped(text)
    yield once
    yield unescaped(once)
    yield unquote(text)
    yield text.replace("''", "'")
    yield once.replace("''", "'")


def check_page(text):
    """Returns the data of a page, after checking that a browser would run its script."""
    script = re.search(r"<script>(.*?)</script>", text, re.S).group(1)
    policy = re.search(r"script-src 'sha256-(.*?)'", text).group(1)
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    if policy != own:
        raise ValueError("the script is not the one of the policy")
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S).group(1))


def values(path, text):
    """The strings in a file of a format; an exception if it is invalid."""
    if path.endswith(".json"):
        yield from strings(json.loads(text))
    elif path.endswith(".ndjson"):
        for line in text.splitlines():
            yield from strings(json.loads(line))
    elif path.endswith(".xml"):
        for element in xml.etree.ElementTree.fromstring(text).iter():
            yield from [element.text or "", *element.attrib.values()]
            if "time" in element.attrib:
                float(element.attrib["time"])
    elif path.endswith(".html"):
        yield from strings(check_page(text))
    elif path.endswith(".prom"):
        for line in text.splitlines():
            if not re.fullmatch(r'# (HELP|TYPE) oprun_\w+ .*|oprun_\w+\{\w+=".*"\} [0-9.e+]+', line):
                raise ValueError(f"not a metric: {line}")


def main():
    secret, files = sys.argv[1], sys.argv[2:]
    # A word is also something that oprun says.
    wanted = PLANTED + secret if re.fullmatch(r"[\w.]+", secret) and secret.isascii() else secret
    for path in files:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
        try:
            shown = list(values(path, text))
        except Exception as error:
            print(f"{path} is invalid: {error!r}"[:200])
            shown = []
        for found in [text, path, *shown]:
            for reading in readings(found):
                place = reading.find(wanted)
                if place >= 0:
                    print(f"{path}: …{reading[max(0, place - 40):place + len(wanted) + 10]!r}")
                    break
            else:
                continue
            break


main()
