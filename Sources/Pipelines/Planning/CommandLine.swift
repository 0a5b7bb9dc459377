// Which command lines need a shell, and the words of those that do not.

/// The words of a one-line script that the shell would run as one plain command; nil if it takes a
/// shell to run it. GNU make's rule: no metacharacters, and the first word is no shell builtin.
package func directArguments(of script: String) -> [String]? {
  nil
}
