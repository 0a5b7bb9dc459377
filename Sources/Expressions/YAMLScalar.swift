// How a string is written in a YAML file.

/// The string as a scalar that is read as this string everywhere.
package func yamlScalar(_ text: String) -> String {
  let isPlain = text.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
  let first = text.utf8.first.map { $0 >= 65 } ?? false
  let isWord = ["true", "false", "null"].contains(text.lowercased())
  return isPlain && first && !isWord ? text : Value.string(text).json
}
