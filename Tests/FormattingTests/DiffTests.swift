// What `--check` shows: the changes, as `diff -u` writes them.

import Formatting
import Testing

@Suite struct `The changes` {
  @Test func `stand among three lines around each`() throws {
    let lines = (1...20).map { "k\($0):  \($0)\n" }.enumerated().map { index, line in
      index == 1 || index == 8 || index == 19 ? line : line.replacing(":  ", with: ": ")
    }
    #expect(
      try changes(of: lines.joined()) == """
        --- a.yml
        +++ a.yml
        @@ -1,12 +1,12 @@
         k1: 1
        -k2:  2
        +k2: 2
         k3: 3
         k4: 4
         k5: 5
         k6: 6
         k7: 7
         k8: 8
        -k9:  9
        +k9: 9
         k10: 10
         k11: 11
         k12: 12
        @@ -17,4 +17,4 @@
         k17: 17
         k18: 18
         k19: 19
        -k20:  20
        +k20: 20

        """)
  }

  @Test func `may remove lines`() throws {
    #expect(
      try changes(of: "\n\na: 1\n\n\nb: 2\n\n") == """
        --- a.yml
        +++ a.yml
        @@ -1,7 +1,3 @@
        -
        -
         a: 1
        -
         
         b: 2
        -

        """)
  }

  @Test func `tell of a line feed that is missing`() throws {
    #expect(
      try changes(of: "a: 1") == """
        --- a.yml
        +++ a.yml
        @@ -1,1 +1,1 @@
        -a: 1
        \\ No newline at end of file
        +a: 1

        """)
    #expect(
      try changes(of: "a:  |\n  x") == """
        --- a.yml
        +++ a.yml
        @@ -1,2 +1,2 @@
        -a:  |
        +a: |
           x
        \\ No newline at end of file

        """)
  }

  @Test func `are none in a text that is formatted`() throws {
    #expect(try FormattedText(Array("a: 1\n".utf8)).isChanged == false)
    #expect(try changes(of: "a: 1\n") == "--- a.yml\n+++ a.yml\n")
  }

  private func changes(of text: String) throws -> String {
    String(decoding: try FormattedText(Array(text.utf8)).diff(named: "a.yml"), as: UTF8.self)
  }
}
