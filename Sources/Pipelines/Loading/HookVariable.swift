// Finds variables in scripts that only hooks have: `$OPRUN_STATUS`.

import Expressions
import Plans

/// A variable that oprun sets for hooks, as a command names it.
struct HookVariable {
  /// The range in the text, with `$`.
  let range: Range<Int>
  let variable: OprunVariable

  private static let all = OprunVariable.allCases.filter { $0.audience != .commands }

  /// All such variables in a text. Another form, such as `${OPRUN_STATUS:-none}`, is written on purpose.
  static func all(in text: UnsafeBufferPointer<UInt8>) -> [HookVariable] {
    let dollar = UInt8(ascii: "$")
    var found: [HookVariable] = []
    var next = text.place(of: dollar, from: 0)
    while let place = next {
      next = text.place(of: dollar, from: place + 1)
      found += [HookVariable(in: text, at: place)].compactMap(\.self)
    }
    return found
  }

  private init?(in text: UnsafeBufferPointer<UInt8>, at start: Int) {
    let hasBrace = start + 1 < text.count && text[start + 1] == UInt8(ascii: "{")
    let name = text[(start + (hasBrace ? 2 : 1))...]
    guard name.starts(with: "OPRUN_".utf8) else { return nil }
    for variable in Self.all where name.starts(with: variable.rawValue.utf8) {
      let end = name.startIndex + variable.rawValue.utf8.count
      let isClosed = end < text.count && text[end] == UInt8(ascii: "}")
      guard hasBrace ? isClosed : end == text.count || !isNameByte(text[end]) else { continue }
      self.variable = variable
      range = start..<end + (hasBrace ? 1 : 0)
      return
    }
    return nil
  }
}
