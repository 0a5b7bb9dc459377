// Finds scripts that append to a file of the runner of GitHub: `>> $GITHUB_ENV`. This affects later
// steps of the job around the run, but not the steps of the pipeline.

import Expressions

/// A file of a runner, as named by a command that appends to it.
struct RunnerFile {
  /// The range of the variable in the text.
  let range: Range<Int>
  /// The variable, without `$`.
  let name: String

  private static let names = ["GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT"]

  /// All such files in a text. Another form, such as `${GITHUB_ENV:?}`, is written on purpose.
  static func all(in text: UnsafeBufferPointer<UInt8>) -> [RunnerFile] {
    let greater = UInt8(ascii: ">")
    var found: [RunnerFile] = []
    var next = text.place(of: greater, from: 0)
    while let place = next {
      next = text.place(of: greater, from: place + 1)
      if next != place + 1 { continue }
      found += [RunnerFile(in: text, behind: place + 2)].compactMap(\.self)
    }
    return found
  }

  private init?(in text: UnsafeBufferPointer<UInt8>, behind start: Int) {
    func has(_ words: String, at place: Int) -> Bool {
      place + words.utf8.count <= text.count
        && text[place..<place + words.utf8.count].elementsEqual(words.utf8)
    }
    var place = start
    while has(" ", at: place) { place += 1 }
    if has("\"", at: place) { place += 1 }
    for name in Self.names {
      for written in ["$\(name)", "${\(name)}"] where has(written, at: place) {
        let end = place + written.utf8.count
        if end < text.count, isNameByte(text[end]) { continue }
        self.name = name
        range = place..<end
        return
      }
    }
    return nil
  }
}
