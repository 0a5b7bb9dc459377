// Reads the bytes of a pipeline file, and refuses what cannot be one. Knows nothing of YAML.

/// Why the bytes of a pipeline file could not be had.
package struct InputFailure: Error, Hashable, Sendable {
  /// In words, the path and the reason included: `cannot read 'a.yml': no such file or directory`.
  package let message: String
  package let help: String?

  package init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }
}

/// Reads the whole file; `-` is standard input.
package func readPipelineFile(_ path: String) throws(InputFailure) -> [UInt8] {
  throw InputFailure("reading is not built yet")
}
