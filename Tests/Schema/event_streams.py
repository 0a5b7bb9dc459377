"""What is wrong with streams of events: the tests run it over real ones.

usage: event_streams.py SCHEMA.json EVENTS.md <STREAMS.json

Reads a list of streams (texts), prints a line for each fault, then the names of the events that were
seen. A field that the schema does not know is a fault here, though readers pass over such fields; so
is an event or a field that the page does not name.
"""

import json
import re
import sys

try:
    import jsonschema
except ImportError as error:
    sys.exit(f"{error}: python3-jsonschema is needed, Scripts/setup installs it")


def validators(schema):
    jsonschema.Draft7Validator.check_schema(schema)
    for event in schema["oneOf"]:
        strict = {**event, "additionalProperties": False}
        yield event["title"], jsonschema.Draft7Validator(strict)


def faults_of_stream(known, text, seen):
    lines = text.split("\n")
    if lines.pop() != "":
        yield "the last line has no end"
    names = []
    for number, line in enumerate(lines, 1):
        event = json.loads(line)
        names.append(event["event"])
        if event["event"] not in known:
            yield f"{number}: unknown event: {line}"
            continue
        for error in known[event["event"]].iter_errors(event):
            yield f"{number}: {error.message}: {line}"
    if names[:1] != ["run_started"] or names[-1:] != ["run_finished"]:
        yield f"starts with {names[:1]} and ends with {names[-1:]}"
    seen.update(names)


def faults_of_page(schema, page):
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", page, re.M | re.S))
    for event in schema["oneOf"]:
        rows = re.findall(r"^\| `(\w+)` \|", sections.pop(event["title"], ""), re.M)
        wanted = [name for name in event["properties"] if name not in ("event", "at_ms")]
        if rows != wanted:
            yield f"the page says of {event['title']}: {rows}, wanted {wanted}"
    for name in sections:
        yield f"the page has {name}, the schema has not"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        page = file.read()
    known = dict(validators(schema))
    seen = set()
    for fault in faults_of_page(schema, page):
        print(fault)
    for number, text in enumerate(json.load(sys.stdin), 1):
        for fault in faults_of_stream(known, text, seen):
            print(f"stream {number}: {fault}")
    print("seen:", *sorted(seen))


main()
