// Formats numbers for people.

/// A size such as `1.5 MB`, in powers of 1000 like everything that is measured.
func shownBytes(_ count: Int) -> String {
  for (unit, size) in [
    ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000),
  ]
  where count >= size - size / 2000 {
    let tenths = (count * 10 + size / 2) / size
    let text = tenths >= 100 ? "\((count + size / 2) / size)" : "\(tenths / 10).\(tenths % 10)"
    return "\(text) \(unit)"
  }
  return "\(count) B"
}

/// A configured size, as it would be written: `512K`, `2M`.
func shownSize(_ count: Int) -> String {
  for (unit, shift) in [("T", 40), ("G", 30), ("M", 20), ("K", 10)]
  where count >= 1 << shift && count % (1 << shift) == 0 {
    return "\(count >> shift)\(unit)"
  }
  return "\(count) bytes"
}

/// A duration: `340ms`, `3.4s`, `2m05s`.
func shownDuration(_ nanoseconds: Int64) -> String {
  let milliseconds = max(0, nanoseconds) / 1_000_000
  switch milliseconds {
  case ..<1000: return "\(milliseconds)ms"
  case ..<60_000:
    let tenths = milliseconds % 1000 / 100
    return tenths == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds / 1000).\(tenths)s"
  default:
    let seconds = milliseconds / 1000
    return "\(seconds / 60)m" + (seconds % 60 < 10 ? "0" : "") + "\(seconds % 60)s"
  }
}
