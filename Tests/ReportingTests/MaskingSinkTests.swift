// The output of a sink that has a masker contains no secret.

import Foundation
import Masking
import Plans
import Testing

@testable import Reporting

struct MaskingSinkTests {
  private let masker = Masker(secrets: [Array("correct horse".utf8)])

  private func written(capacity: Int, _ body: (ByteSink) -> Void) throws -> String {
    let file = try TemporaryFile()
    let sink = ByteSink(descriptor: file.descriptor, capacity: capacity)
    sink.masker = masker
    body(sink)
    sink.flush()
    return file.text
  }

  @Test func `a secret is masked wherever the buffer ends`() throws {
    for capacity in 8...64 {
      let text = try written(capacity: capacity) { sink in
        for number in 0..<20 {
          sink.write(decimal: number)
          sink.write(" correct ")
          sink.write("horse, correct")
          sink.writeNewline()
        }
      }
      #expect(text == (0..<20).map { "\($0) ***, correct\n" }.joined())
    }
  }

  @Test func `a text longer than the buffer is masked`() throws {
    let text = try written(capacity: 16) { $0.write("so long a text with a correct horse in it") }
    #expect(text == "so long a text with a *** in it")
  }

  @Test func `a flush shows all there is`() throws {
    let file = try TemporaryFile()
    let sink = ByteSink(descriptor: file.descriptor)
    sink.masker = masker
    sink.write("correct")
    sink.flush()
    #expect(file.text == "correct")
  }

  @Test func `of a format the values are masked, and nothing else`() throws {
    let text = try written(capacity: 64) { sink in
      sink.isFormat = true
      sink.write("correct horse ")
      sink.write(own: "correct horse \(1) ")
      sink.write(json: "\tcorrect horse")
      sink.write(ownJSON: "correct horse")
      sink.write(xml: "<correct horse\u{1}>")
      sink.write(markdown: "#correct horse#")
      sink.write(sink.captured { $0.write("a correct horse, \(2)") })
      sink.isFormat = false
      sink.write(" correct horse")
    }
    #expect(
      text == #"""
        correct horse correct horse 1 "\t***""correct horse"&lt;***&gt;&#35;&#42;&#42;&#42;&#35;a ***, 2 ***
        """#)
  }

  @Test func `a command is masked before it is clipped`() throws {
    let action = Action.arguments(["login", "correct horse", "--now"])
    for columns in 1...30 {
      let text = try written(capacity: 1000) {
        $0.write(firstLineOf: ShownCommand(action), columns: columns)
      }
      let whole = "login '***' --now"
      #expect(text == (columns >= whole.count ? whole : whole.prefix(columns - 1) + "…"))
    }
  }
}
