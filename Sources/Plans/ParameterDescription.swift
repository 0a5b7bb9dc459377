// The parameters of a pipeline, as they appear to a person who sets them.

/// A parameter, for people. All texts are as they would be written in the file.
package struct ParameterDescription: Hashable, Sendable {
  package let name: String
  /// The word in the file: `string`, `int`, `number`, `bool`, `list`.
  package let type: String
  /// The default value; nil if there is none.
  package let defaultValue: String?
  /// The allowed values; empty if any is allowed.
  package let choices: [String]
  package let isRequired: Bool
  package let description: String?
  /// True if the parameter takes the arguments after `--`.
  package let takesRest: Bool

  /// True if the parameter must be given a value.
  package var isDemanded: Bool { isRequired && defaultValue == nil }

  package init(
    name: String, type: String, defaultValue: String? = nil, choices: [String] = [],
    isRequired: Bool = false, description: String? = nil, takesRest: Bool = false
  ) {
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.choices = choices
    self.isRequired = isRequired
    self.description = description
    self.takesRest = takesRest
  }
}

/// A value given on the command line: `--param name=value`.
package struct ParameterArgument: Hashable, Sendable {
  package let name: String
  package let value: String
  /// The run in which the value was recorded; nil for a value that is given now.
  package private(set) var run: String?

  /// The argument as recorded in an earlier run: it is ignored if the file no longer has the parameter.
  package func recorded(in run: String) -> ParameterArgument {
    var recorded = self
    recorded.run = run
    return recorded
  }

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}
