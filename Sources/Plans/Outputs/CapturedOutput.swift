// The output of a command of `vars`, as a value.

import Diagnostics
package import Expressions

/// The name of the one output of such a command.
package let capturedOutputName = "value"

/// Reads what a command has printed, without the line breaks at its end.
package func readCapturedOutput(_ bytes: [UInt8]) throws(OutputFailure) -> ValueMap {
  guard bytes.count <= OutputFile.byteLimit else {
    throw OutputFailure(message: "its output is larger than 1 MiB, which is the limit")
  }
  if bytes.contains(0) {
    throw OutputFailure(message: "its output contains the character '\\u{0}'")
  }
  var rest = bytes[...]
  while rest.last == UInt8(ascii: "\n") {
    rest.removeLast()
    if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
  }
  guard let text = String(validating: rest, as: UTF8.self) else {
    throw OutputFailure(message: "its output is not UTF-8")
  }
  return ValueMap([(capturedOutputName, .string(text))])
}
