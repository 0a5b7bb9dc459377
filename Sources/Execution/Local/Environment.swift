// The environment of commands: what oprun inherited, the file's variables, and OPRUN_*.

import CLinux
package import Diagnostics
import Glibc
import Plans

/// The variables that steps with the same settings share, as C strings that live as long as this
/// object.
final class Environment {
  /// The variables as `NAME=value`, in an arbitrary order; each name once.
  let variables: [UnsafeMutablePointer<CChar>]
  /// The directories in which programs without a slash are searched, as bytes: they need not be UTF-8.
  let searchPath: [[UInt8]]
  private let owned: [UnsafeMutablePointer<CChar>]

  /// Variables that have a different value for each command.
  static let perCommandNames = OprunVariable.allCases.filter(\.isOfCommand).map(\.rawValue)

  /// `added` wins over inherited variables, of which only `names` are taken; of equal names the last one
  /// wins.
  init(adding added: [EnvironmentVariable], inheriting names: Set<String>? = nil) {
    var set = Set(Environment.perCommandNames)
    var owned: [UnsafeMutablePointer<CChar>] = []
    for variable in added.reversed() where set.insert(variable.name).inserted {
      if let text = strdup("\(variable.name)=\(variable.value)") { owned.append(text) }
    }
    // Few inherited variables begin like one of the set, and only their names are needed as strings.
    var isInitial = [Bool](repeating: false, count: 256)
    for name in set { isInitial[Int(name.utf8.first ?? 0)] = true }
    let inherited = Environment.inherited().filter { variable in
      guard names != nil || isInitial[Int(UInt8(bitPattern: variable.pointee))] else {
        return true
      }
      let name = Environment.name(of: variable)
      return !set.contains(name) && names?.contains(name) != false
    }
    self.owned = owned
    variables = inherited + owned
    searchPath = Environment.directories(
      variables.first { Environment.name(of: $0) == "PATH" }.map { variable in
        Array(UnsafeRawBufferPointer(start: variable + 5, count: strlen(variable + 5)))
      })
  }

  deinit { owned.forEach { free($0) } }

  /// The directories as in execvp(3): without PATH those of the system, and an empty entry is the
  /// current directory.
  private static func directories(_ path: [UInt8]?) -> [[UInt8]] {
    (path ?? Array("/bin:/usr/bin".utf8))
      .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { $0.isEmpty ? [UInt8(ascii: ".")] : Array($0) }
  }

  fileprivate static func inherited() -> [UnsafeMutablePointer<CChar>] {
    var all: [UnsafeMutablePointer<CChar>] = []
    guard var next = clinux_environment() else { return [] }
    while let variable = next.pointee {
      all.append(variable)
      next += 1
    }
    return all
  }

  fileprivate static func name(of variable: UnsafeMutablePointer<CChar>) -> String {
    guard let equals = strchr(variable, 61) else { return String(cString: variable) }
    return String(
      decoding: UnsafeRawBufferPointer(start: variable, count: equals - variable), as: UTF8.self)
  }
}

/// The variables that oprun was started with, as far as they are text.
package struct InheritedEnvironment {
  package fileprivate(set) var values: [String: String] = [:]
  /// The variables whose value is not UTF-8.
  package fileprivate(set) var undecodable: [String: TextDecodingFailure] = [:]
  private var bytes: [String: String] = [:]

  /// All variables, with values as in `ByteText`: different bytes are different strings.
  package var byteTexts: [String: String] {
    values.mapValues { ByteText.isWhole($0) ? $0 : ByteText.text(of: Array($0.utf8)) }
      .merging(bytes) { $1 }
  }

  fileprivate mutating func add(_ name: String, _ value: UnsafePointer<CChar>) {
    guard values[name] == nil, undecodable[name] == nil else { return }
    do throws(TextDecodingFailure) {
      values[name] = try text(of: value)
    } catch {
      undecodable[name] = error
      bytes[name] = ByteText.text(of: value)
    }
  }
}

/// The inherited environment. Of equal names the first one counts, as for getenv(3).
package func inheritedEnvironment() -> InheritedEnvironment {
  var found = InheritedEnvironment()
  let variables = Environment.inherited()
  found.values.reserveCapacity(variables.count)
  for variable in variables {
    guard let equals = strchr(variable, 61) else { continue }
    found.add(Environment.name(of: variable), equals + 1)
  }
  return found
}

/// An inherited variable: its value, or its bytes if they are not UTF-8; nil if there is none.
package func inheritedVariable(_ name: String) -> Result<String, TextDecodingFailure>? {
  guard !name.utf8.contains(UInt8(ascii: "=")), let value = getenv(name) else { return nil }
  do throws(TextDecodingFailure) {
    return .success(try text(of: value))
  } catch {
    return .failure(error)
  }
}

/// The names of inherited variables that begin with `OPRUN_`, sorted.
package func oprunVariableNames() -> [String] {
  Environment.inherited().lazy.filter { strncmp($0, "OPRUN_", 6) == 0 }
    .map { Environment.name(of: $0) }.sorted()
}
