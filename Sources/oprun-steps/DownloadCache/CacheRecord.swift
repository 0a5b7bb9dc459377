// What the cache knows about one key: which content it stands for, and what the server said about
// it.

import Diagnostics

/// A key's content. The key is a hash of a URL and the headers sent with it, or of an image and
/// what was made of it; neither is kept, since both may contain secrets.
struct CacheRecord: Hashable, Sendable {
  let digest: Digest
  let size: Int
  var validators = Validators()
  /// When the server last confirmed this, in seconds since 1970.
  var confirmed: Int
  /// True if the content is in the cache; otherwise only its hash is known.
  var isKept: Bool
  /// Further information for the code that stored the content: dimensions of an image.
  var note = ""

  init(digest: Digest, size: Int, confirmed: Int, isKept: Bool) {
    self.digest = digest
    self.size = size
    self.confirmed = confirmed
    self.isKept = isKept
  }

  /// The possible sizes and times. Others are damaged, and sums of them would be too large.
  static let sizes = 0...(1 << 60)
  private static let times = 0...(1 << 40)
  private static let header = "oprun cache 1"

  var text: String {
    """
    \(Self.header)
    digest \(digest.hexadecimal)
    size \(size)
    confirmed \(confirmed)
    kept \(isKept)
    etag \(validators.entityTag ?? "")
    modified \(validators.lastModified ?? "")
    note \(note)

    """
  }

  /// Parses a record; nil if it is not in the form that `text` writes.
  init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 9, lines[0] == Self.header, lines[8].isEmpty else { return nil }
    func value(_ line: Int, _ name: String) -> String? {
      lines[line].hasPrefix(name + " ") ? String(lines[line].dropFirst(name.count + 1)) : nil
    }
    guard let digest = value(1, "digest").flatMap({ Digest($0) }),
      let size = value(2, "size").flatMap({ Int($0) }), Self.sizes.contains(size),
      let confirmed = value(3, "confirmed").flatMap({ Int($0) }),
      Self.times.contains(confirmed),
      let isKept = value(4, "kept").flatMap({ Bool($0) }),
      let tag = value(5, "etag"), let date = value(6, "modified"), let note = value(7, "note")
    else { return nil }
    self.init(digest: digest, size: size, confirmed: confirmed, isKept: isKept)
    validators = Validators(
      entityTag: tag.isEmpty ? nil : tag, lastModified: date.isEmpty ? nil : date)
    self.note = note
  }
}
