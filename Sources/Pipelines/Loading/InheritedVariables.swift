// The variables that oprun inherited, looked up when a file asks for one.

package import Diagnostics

/// The inherited variables, as planning looks them up.
package struct InheritedVariables: Sendable {
  /// The value of a variable, or its bytes if they are not UTF-8; nil if there is no such variable.
  package let value: @Sendable (_ name: String) -> Result<String, TextDecodingFailure>?
  /// The names of all variables, in an arbitrary order.
  package let names: @Sendable () -> [String]

  package init(
    value: @escaping @Sendable (_ name: String) -> Result<String, TextDecodingFailure>?,
    names: @escaping @Sendable () -> [String]
  ) {
    self.value = value
    self.names = names
  }

  /// Makes a set of these variables only.
  package init(_ values: [String: String] = [:]) {
    self.init(value: { name in values[name].map { .success($0) } }, names: { Array(values.keys) })
  }

  /// The value of a variable; nil if there is none, or if it is not UTF-8.
  func text(_ name: String) -> String? { try? value(name)?.get() }

  /// The failure for a variable that is not UTF-8; nil for any other.
  func undecodable(_ name: String) -> TextDecodingFailure? {
    if case .failure(let failure)? = value(name) { failure } else { nil }
  }
}
