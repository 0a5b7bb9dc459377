// Files that are not YAML, or YAML that is refused: whole messages.

import Plans
import Testing

struct SyntaxErrorTests {
  @Test func `a tab in the indentation is named`() {
    #expect(
      errors("steps:\n\t- id: a\n") == """
        pipeline.yml:2:1: error: a tab cannot be used for indentation
         2 |     - id: a
           | ^~~~
          help: use spaces
        pipeline.yml: 1 error

        """)
    #expect(
      messages("steps:\n  - id: a\n    run:\n\t  x\n") == [
        "4:1: a tab cannot be used for indentation"
      ])
  }

  @Test func `an open quote is shown where it begins`() {
    #expect(
      errors("name: \"a\nsteps:\n  - id: b\n") == """
        pipeline.yml:1:7: error: this quote is never closed
         1 | name: "a
           |       ^
        pipeline.yml: 1 error

        """)
    #expect(messages("name: 'a\n") == ["1:7: this quote is never closed"])
  }

  @Test func `an open bracket is shown where it begins`() {
    #expect(
      errors("steps: [a, b\n") == """
        pipeline.yml:1:8: error: this list is never closed with ']'
         1 | steps: [a, b
           |        ^
        pipeline.yml: 1 error

        """)
    #expect(messages("env: {a: b\n") == ["1:6: this map is never closed with '}'"])
    #expect(
      errors("steps:\n  - id: a\n    depends_on: [b\n    run: x\n") == """
        pipeline.yml:4:8: error: expected ',' or ']' in the list
         4 |     run: x
           |        ^
         3 |     depends_on: [b
           |                 ~ the list begins here
        pipeline.yml: 1 error

        """)
  }

  @Test func `an expression between brackets needs quotes`() {
    #expect(
      errors("steps:\n  - {id: a, run: echo ${{ params.x }}}\n") == """
        pipeline.yml:2:24: error: expected ',' or '}' in the map
         2 |   - {id: a, run: echo ${{ params.x }}}
           |                        ^
           |     ~ the map begins here
          help: put the string with '${{' in quotes: between brackets, '{' begins a map
        pipeline.yml: 1 error

        """)
  }

  @Test func `bad indentation is shown with what it should fit`() {
    #expect(
      errors("steps:\n  - id: a\n    run: x\n   - id: b\n") == """
        pipeline.yml:4:4: error: expected '- ' at the indentation of the list around it
         4 |    - id: b
           |    ^
         2 |   - id: a
           |   ~ the list begins here
          help: the other items have 2 spaces before them
        pipeline.yml: 1 error

        """)
    #expect(
      messages("env:\n   a: b\n  ? c\n") == [
        "3:3: expected a key at the indentation of the map around it"
      ])
  }

  @Test func `a colon in a text without quotes is explained`() {
    #expect(
      errors("steps:\n  - id: a\n    run: echo a: b\n") == """
        pipeline.yml:3:16: error: the value of 'run' contains ': ', which YAML takes for a key
         3 |     run: echo a: b
           |                ^
          help: put the command on a line of its own below 'run: |', indented further
        pipeline.yml: 1 error

        """)
  }

  @Test func `a line in the column of its item's dash is told how far to move`() {
    #expect(
      errors("steps:\n  - id: a\n  run: x\n") == """
        pipeline.yml:3:3: error: expected '- ' at the indentation of the list around it
         3 |   run: x
           |   ^
         2 |   - id: a
           |   ~ the list begins here
          help: to belong to the item above, this line must be indented by 2 more
        pipeline.yml: 1 error

        """)
  }

  @Test(arguments: ["id:t", "id:\u{A0}t"])
  func `a missing space is shown where it is missing`(line: String) {
    #expect(
      errors("steps:\n  - \(line)\n    run: x\n") == """
        pipeline.yml:2:7: error: no space after ':'
         2 |   - \(line)
           |       ^
          help: a key is followed by ': ', as in 'id: …'
        pipeline.yml: 1 error

        """)
    #expect(
      messages("steps:\n  - run: curl\n      https://a: b\n") == ["3:16: a ':' is not allowed here"]
    )
  }

  @Test func `a missing colon is shown after the key that lacks it`() {
    #expect(
      errors("steps:\n  - id a\n    run: x\n") == """
        pipeline.yml:2:7: error: ':' is missing after 'id'
         2 |   - id a
           |       ^
          help: write 'id: a'
        pipeline.yml: 1 error

        """)
    #expect(
      messages("steps:\n  - id: a\n    run: echo\n      hello you\n      a: b\n") == [
        "5:8: a ':' is not allowed here"
      ])
  }

  @Test func `a line that is indented too far is compared with the one above`() {
    #expect(
      errors("steps:\n  - id: a\n      run: x\n") == """
        pipeline.yml:3:7: error: this line is indented further than 'id' above it
         3 |       run: x
           |       ^~~
          help: indent it like 'id', or put a string of several lines below '|'
        pipeline.yml: 1 error

        """)
  }

  @Test func `a space that is a letter to YAML is named`() {
    #expect(
      messages("steps:\n  -\u{A0}id: a\n    run: x\n") == [
        "2:4: this is a no-break space (U+00A0), which YAML reads as a letter"
      ])
  }

  @Test(arguments: [
    ("run: [ -f y ] && echo", "1:16: unexpected text after a list"),
    ("run: | echo hi", "1:8: the text of '|' or '>' begins on the next line"),
    (
      "run: \"C:\\x\"",
      "1:9: the escape '\\x' in a double-quoted string lacks its hexadecimal digits"
    ),
    ("run: *.sh", "1:6: an unquoted string cannot start with '*'"),
    ("run: &&", "1:6: an unquoted string cannot start with '&'"),
    ("steps: [", "1:8: this list is never closed with ']'"),
    ("run: {{ x }}", "1:7: a key must be a string, not a list, a map or an alias"),
  ])
  func `what libyaml says in its own words is explained`(text: String, message: String) {
    #expect(messages(text + "\n") == [message])
  }

  @Test func `other slips are explained`() {
    #expect(
      messages("steps:\n  - id: a\n    ran x\n    name: b\n") == [
        "3:5: expected ':' after this key"
      ])
    #expect(messages("name: @a\n") == ["1:7: an unquoted string cannot start with '@'"])
    #expect(messages("name: `a\n") == ["1:7: an unquoted string cannot start with '`'"])
    #expect(
      messages("name: \"\\q\"\n") == [
        "1:8: unknown escape '\\q' in a double-quoted string"
      ])
    #expect(messages("name: - a\n") == ["1:7: a list item is not allowed here"])
    #expect(
      messages("\"a\" \"b\"\n") == [
        "1:5: unexpected content: the pipeline above this is complete"
      ])
    #expect(messages("a: &b &c d\n").count == 1)
    #expect(messages("%YAML 3.0\n---\na: b\n").count == 1)
  }

  @Test func `nothing but the syntax error is reported`() {
    #expect(messages("stepps: 1\nname: [1\n") == ["2:7: this list is never closed with ']'"])
  }

  @Test func `places count bytes right beyond characters of several bytes`() {
    #expect(
      errors("# 日本語 🚀\nname: \"é\" \"x\"\n").hasPrefix(
        "pipeline.yml:2:11: error: "))
    #expect(
      messages("# 日本語 🚀\nname: é\nsteps:\n  - id: ü\n    run: x\n") == [
        "4:9: 'ü' cannot be the id of a step"
      ])
  }
}

struct RefusedYAMLTests {
  private let valid = "steps:\n  - id: a\n    run: x\n"

  @Test func `a tag is refused by name`() {
    #expect(
      errors("name: !!python/object x\n" + valid) == """
        pipeline.yml:1:7: error: the tag '!!python/object' is not allowed: types follow from the keys
         1 | name: !!python/object x
           |       ^~~~~~~~~~~~~~~~~
          help: remove it
        pipeline.yml: 1 error

        """)
    #expect(
      messages("env: !mine {}\n" + valid) == [
        "1:6: the tag '!mine' is not allowed: types follow from the keys"
      ])
    #expect(
      messages("steps: !!seq []\n") == [
        "1:8: the tag '!!seq' is not allowed: types follow from the keys"
      ])
  }

  @Test func `a key that is no text is refused`() {
    for text in ["? [a]\n: b\n", "{a: b}: c\n", "x-a: &a b\n*a : c\n", "? {a: b}\n: c\n"] {
      #expect(
        messages(text).map { $0.drop { $0 != " " } } == [
          " a key must be a string, not a list, a map or an alias"
        ], "\(text)")
    }
  }

  @Test func `an alias needs an anchor before it`() {
    #expect(
      errors("x-common: &common {}\nsteps:\n  - <<: *comon\n") == """
        pipeline.yml:3:9: error: no anchor 'comon' is defined before this alias
         3 |   - <<: *comon
           |         ^~~~~~
          help: did you mean '*common'?
        pipeline.yml: 1 error

        """)
    #expect(
      messages("x-a: &a [*a]\n" + valid) == [
        "1:10: the alias 'a' is inside the value it refers to"
      ])
  }

  @Test func `a pipeline is one document`() {
    #expect(
      errors(valid + "---\n" + valid) == """
        pipeline.yml:4:1: error: a second document begins here, but a pipeline file contains only one
         4 | ---
           | ^~~
        pipeline.yml: 1 error

        """)
    #expect(messages("---\n" + valid + "...\n") == [])
  }

  @Test(arguments: ["", "\n\n", "# nothing\n", "\u{feff}", "  "])
  func `an empty file is an error that shows how to begin`(_ text: String) {
    #expect(
      errors(text).hasSuffix(
        """
        error: the file is empty: a pipeline needs 'steps'
         1 |\(text.hasPrefix("#") ? " # nothing" : "")
           | ^
          help: write 'steps:' and below it '- id: hello' with 'run: echo hello'
        pipeline.yml: 1 error

        """))
  }

  @Test func `a file that is no map is refused`() {
    #expect(messages("- a\n") == ["1:1: a pipeline file must be a map with 'steps', not a list"])
    #expect(messages("steps\n") == ["1:1: a pipeline file must be a map with 'steps', not 'steps'"])
    #expect(messages("---\n") == ["2:1: a pipeline file must be a map with 'steps', not nothing"])
    #expect(
      messages("5\n") == ["1:1: a pipeline file must be a map with 'steps', not the number 5"])
  }
}

struct EncodingTests {
  private let valid = "steps:\n  - id: a\n    run: x\n"

  @Test func `a byte order mark and carriage returns change nothing`() throws {
    for text in ["\u{feff}" + valid, valid.replacing("\n", with: "\r\n")] {
      #expect(try plan(text).steps.map(\.id) == ["a"])
    }
    #expect(messages("\u{feff}step: 1\n" + valid) == ["1:1: unknown key 'step' at top level"])
    #expect(
      messages("\u{feff}é: 1\r\n" + valid + "  - id: a\r\n    run: y\r\n") == [
        "1:1: unknown key 'é' at top level", "5:9: two steps have the id 'a'",
      ])
  }

  @Test func `UTF-16 is named, with or without a mark`() {
    let littleEndian = valid.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let bigEndian = valid.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for bytes in [[0xFF, 0xFE] + littleEndian, [0xFE, 0xFF] + bigEndian, littleEndian, bigEndian] {
      #expect(messages(bytes) == ["1:1: the file is UTF-16 or UTF-32, but it must be UTF-8"])
    }
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF8], [0x80],
    ] as [[UInt8]])
  func `bytes that are no UTF-8 are shown where they are`(_ bytes: [UInt8]) {
    let text = Array("# é\nname: \"é".utf8) + bytes + Array("\"\n".utf8)
    let hex = String(bytes[0], radix: 16, uppercase: true)
    #expect(messages(text) == ["2:9: byte 0x\(hex) is not valid UTF-8: the file must be UTF-8"])
  }

  @Test func `control characters and separators that tools disagree on are refused`() {
    #expect(
      errors("name: a\u{1b}b\n" + valid) == """
        pipeline.yml:1:8: error: the control character U+001B is not allowed in the file
         1 | name: a\\u{1b}b
           |        ^~~~~~
          help: in a double-quoted string, write "\\u001b"
        pipeline.yml: 1 error

        """)
    #expect(messages("a\0") == ["1:2: byte 0x00: this is not a text file"])
    #expect(messages("a\u{7f}\0") == ["1:2: byte 0x7F: this is not a text file"])
    #expect(messages([0xFF, 1, 2, 0, 0]) == ["1:1: byte 0xFF: this is not a text file"])
    #expect(messages("a\u{7f}") == ["1:2: the control character U+007F is not allowed in the file"])
    #expect(messages("# \u{2028}") == ["1:3: the line separator U+2028 is not allowed in the file"])
    #expect(
      messages("steps:\r\n- {id: a,\r run: x}\n") == [
        "2:10: the line separator U+000D is not allowed in the file"
      ])
    #expect(
      messages("# a\r") == ["1:4: the line separator U+000D is not allowed in the file"])
    #expect(messages("# \u{85}") == ["1:3: the line separator U+0085 is not allowed in the file"])
  }

  @Test func `what is written as an escape is allowed, but for the character 0`() throws {
    let text = try plan(valid + "    stdin: \"\\e\\u2028\\x7f é\"\n").steps[0].settings
    #expect(text.standardInput == "\u{1b}\u{2028}\u{7f} é")
    #expect(
      messages(valid + "    stdin: \"a\\0\"\n") == [
        "4:12: 'stdin' cannot contain the character '\\u{0}'"
      ])
  }
}
