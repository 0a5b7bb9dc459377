// Names that are too long for their place. They are cut in the middle: both the beginning and the
// end of an id identify it.

import Diagnostics
import Masking

/// The text, without secrets, in at most this many columns: its beginning, an ellipsis, its end.
func cutInMiddle(_ text: String, columns: Int) -> String {
  guard text.utf8.count > columns, displayWidth(of: text) > columns else { return text }
  let room = max(0, columns - 1)
  var start = ""
  var end = ""
  var width = 0
  for scalar in text.unicodeScalars {
    width += displayWidth(of: scalar)
    if width > (room + 1) / 2 { break }
    start.unicodeScalars.append(scalar)
  }
  width = displayWidth(of: start)
  for scalar in text.unicodeScalars.reversed() {
    width += displayWidth(of: scalar)
    if width > room { break }
    end.unicodeScalars.append(scalar)
  }
  return start + "…" + String(String.UnicodeScalarView(end.unicodeScalars.reversed()))
}

extension ByteSink {
  /// The name in front of a line, in at most half of a terminal.
  func shortened(_ name: String) -> String {
    guard let lineWidth else { return name }
    return cutInMiddle(masker?.mask(name) ?? name, columns: max(8, lineWidth / 2))
  }
}
