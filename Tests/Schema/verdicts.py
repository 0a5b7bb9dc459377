"""What the JSON schema says of YAML texts: the tests compare it with what oprun says.

usage: verdicts.py SCHEMA.json <TEXTS.json >VERDICTS.json

Reads a list of texts, writes a list with a reason for each that is refused, and null for the others.
Scalars are read as YAML 1.2's core schema says, keys as texts, and merge keys are followed, which is
what editors do. Patterns are those of ECMA 262, as JSON Schema wants: `$` is the end of the text.
"""

import json
import re
import sys

try:
    import jsonschema
    import yaml
except ImportError as error:
    sys.exit(f"{error}: python3-jsonschema and python3-yaml are needed, Scripts/setup installs them")


class CoreLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.2 instead of 1.1: `yes` and `on` are texts."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        if isinstance(node, yaml.MappingNode):
            self.flatten_mapping(node)
            for key, _ in node.value:
                key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


SCALARS = [
    ("null", r"null|Null|NULL|~|", lambda text: None),
    ("bool", r"true|True|TRUE|false|False|FALSE", lambda text: text.lower() == "true"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", lambda text: int(text, base(text))),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        lambda text: float(re.sub(r"\.(?=[a-zA-Z])", "", text)),
    ),
]


def base(text):
    return {"0o": 8, "0x": 16}.get(text[:2], 10)


for name, pattern, convert in SCALARS:
    tag = f"tag:yaml.org,2002:{name}"
    CoreLoader.add_implicit_resolver(tag, re.compile(f"(?:{pattern})\\Z"), None)
    CoreLoader.add_constructor(
        tag, lambda loader, node, convert=convert: convert(loader.construct_scalar(node))
    )
CoreLoader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])


def ecma_pattern(validator, pattern, instance, schema):
    if isinstance(instance, str) and not re.search(re.sub(r"(?<!\\)\$", r"\\Z", pattern), instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def verdict(validator, text):
    try:
        document = yaml.load(text, CoreLoader)
    except yaml.YAMLError as error:
        return f"no YAML: {error}"
    error = next(validator.iter_errors(document), None)
    return error and f"{'/'.join(map(str, error.absolute_path))}: {error.message}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    checker = jsonschema.validators.extend(jsonschema.Draft7Validator, {"pattern": ecma_pattern})
    validator = checker(schema)
    json.dump([verdict(validator, text) for text in json.load(sys.stdin)], sys.stdout)


main()
