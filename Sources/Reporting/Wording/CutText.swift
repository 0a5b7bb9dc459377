// Names that are too long for where they stand. They are cut in the middle: both the beginning and the
// end of an id say which one it is.

import Diagnostics

/// The text in at most so many columns: its beginning, an ellipsis, its end.
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
  /// Columns of a name in front of a line: half of a terminal, and no limit elsewhere.
  var longestName: Int { lineWidth.map { max(8, $0 / 2) } ?? .max }
}
