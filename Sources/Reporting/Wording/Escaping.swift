// Replaces characters that have a meaning where a text is written. `ByteSink.write(own:plain:_:)`
// does the same for long texts, without a string in between.

/// A text in which some characters are replaced. They are looked at one by one: a quote followed by
/// an accent is still a quote.
func escaped(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    if let other = replacement(scalar) {
      result += other
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}
