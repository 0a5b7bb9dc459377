// The rules of docs/formatting.md, each with a text before and after.

import Formatting
import Testing

@Suite struct `A text is formatted` {
  private static let cases: [(rule: String, before: String, after: String)] = [
    (
      "two spaces for each level",
      "steps:\n    - id: a\n      env:\n            A: 1\n            B: 2\n",
      "steps:\n  - id: a\n    env:\n      A: 1\n      B: 2\n"
    ),
    ("a file begins at the left", "  a: 1\n  b: 2\n", "a: 1\nb: 2\n"),
    (
      "a list is indented below its key",
      "steps:\n- id: a\n  depends_on:\n  - b\n- id: b\nname: x\n",
      "steps:\n  - id: a\n    depends_on:\n      - b\n  - id: b\nname: x\n"
    ),
    (
      "lists in lists", "a:\n-   -   1\n    -   2\n-\n  - 3\n",
      "a:\n  - - 1\n    - 2\n  -\n    - 3\n"
    ),
    (
      "one space after a colon and a dash", "a:   1\nb :\t2\nc:\n  -   3\n",
      "a: 1\nb: 2\nc:\n  - 3\n"
    ),
    (
      "brackets are tight, commas are not",
      "a: [ b ,c,  d ]\ne: { f:  1,g: 2 , \"h\":3 }\ni: [ ]\nj: {k: , l}\n",
      "a: [b, c, d]\ne: {f: 1, g: 2, \"h\": 3}\ni: []\nj: {k: , l}\n"
    ),
    (
      "brackets over several lines keep their form",
      "a:\n    b: [\n        c,   # why\n\n\n        {d: 1,\n         e: 2},\n    ]\n",
      "a:\n  b: [\n      c,   # why\n\n      {d: 1,\n       e: 2},\n  ]\n"
    ),
    ("no blanks at the end of a line", "a: 1  \n# b \t\nc: \n  d: 2\n", "a: 1\n# b\nc:\n  d: 2\n"),
    ("at most one blank line", "\n\na: 1\n\n\n\nb: 2\n  \n\n", "a: 1\n\nb: 2\n"),
    ("one line feed at the end", "a: 1", "a: 1\n"),
    ("line feeds alone", "a: 1\r\nb: |\r\n  x\r\n  y\r\n", "a: 1\nb: |\n  x\n  y\n"),
    ("no byte order mark", "\u{FEFF}a: 1\n", "a: 1\n"),
    (
      "comments move with what they are about",
      """
      # top
      steps:
      # first
      - id: a    # beside
        env:
              A: 1
              # the end of env
        # the end of a
      # second
      - id: b
          # far out
      # the end
      """,
      """
      # top
      steps:
        # first
        - id: a    # beside
          env:
            A: 1
            # the end of env
          # the end of a
        # second
        - id: b
          # far out
      # the end

      """
    ),
    (
      "a step that is commented out stays beside the others",
      "steps:\n    - id: a\n    # - id: b\n    #   run: x\n    - id: c\n",
      "steps:\n  - id: a\n  # - id: b\n  #   run: x\n  - id: c\n"
    ),
    (
      "the text of a script is not touched",
      "a:\n   run: |\n       if x; then\n           y  \n\n\n       fi # no comment\n\n\n   b: 1\n",
      "a:\n  run: |\n    if x; then\n        y  \n\n\n    fi # no comment\n\n  b: 1\n"
    ),
    (
      "lines that belong to a script stay",
      "a: |+\n   x\n\n\nb: >-\n      y\n\n       z\nc: |\n  \n   \n   d\n",
      "a: |+\n  x\n\n\nb: >-\n  y\n\n   z\nc: |\n\n\n  d\n"
    ),
    (
      "an indicator of indentation keeps its meaning",
      "a:\n    b: |2  # first line indented\n         x\n      y\n",
      "a:\n  b: |2  # first line indented\n       x\n    y\n"
    ),
    ("a script without a line feed gets none", "a: |\n    x", "a: |\n  x"),
    ("a script that drops it gets one", "a: |-\n    x", "a: |-\n  x\n"),
    (
      "strings over several lines keep their form",
      "a:\n      b: one\n          two\n\n        three\n      c: \"x \\\n         y\"\n",
      "a:\n  b: one\n      two\n\n    three\n  c: \"x \\\n     y\"\n"
    ),
    (
      "quotes stay as they are", "a: 'it''s'\nb: \"1.0\"\nc: 1.0\nd: \"\\u0041  \"\n",
      "a: 'it''s'\nb: \"1.0\"\nc: 1.0\nd: \"\\u0041  \"\n"
    ),
    (
      "anchors, aliases, merges",
      "w: &c 1\nx: &a\n    b: [ *c ]\nz: &d   1\ny:\n  <<:   *a\n  e: {f: *d , g: *d}\n",
      "w: &c 1\nx: &a\n  b: [*c]\nz: &d 1\ny:\n  <<: *a\n  e: {f: *d, g: *d}\n"
    ),
    (
      "a value below its key",
      "a:\n        \"text\"\nb:\n        [ c,\n          d ]\ne: &x\n        f: 1\n",
      "a:\n  \"text\"\nb:\n  [c,\n    d]\ne: &x\n  f: 1\n"
    ),
    ("explicit keys", "?   a\n:   1\n", "? a\n: 1\n"),
    (
      "markers of a document", "%YAML 1.1\n---   # x\n   a: 1\n...\n",
      "%YAML 1.1\n---   # x\na: 1\n...\n"
    ),
    (
      "letters of more than one byte", "ä:   [ 'ü' ,  \"€\" ]   # ö\n𝄞:   1\n",
      "ä: ['ü', \"€\"]   # ö\n𝄞: 1\n"
    ),
  ]

  @Test(arguments: cases.map(\.rule))
  func `by this rule`(rule: String) throws {
    let example = try #require(Self.cases.first { $0.rule == rule })
    #expect(try formatted(example.before) == example.after)
    #expect(try formatted(example.after) == example.after)
  }

  @Test(arguments: [
    "a: [1\n", "a: \"x\n", "a: b: c\n", "\ta: 1\n", "a: *b\n  c\n", "{",
  ])
  func `but not if it is not YAML`(text: String) {
    #expect(throws: FormattingFailure.self) { try formatted(text) }
  }

  @Test func `even if it is empty`() throws {
    #expect(try formatted("") == "")
    #expect(try formatted("\n\n") == "")
    #expect(try formatted("  # only this\n") == "# only this\n")
  }
}

func formatted(_ text: String) throws -> String {
  String(decoding: try FormattedText(Array(text.utf8)).bytes, as: UTF8.self)
}
