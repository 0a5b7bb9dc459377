// The shells of this machine.

import Foundation

/// A shell that runs scripts of steps.
package struct Shell: CustomStringConvertible, Sendable {
  package let arguments: [String]

  package init(arguments: [String]) { self.arguments = arguments }

  package var description: String { arguments.joined(separator: " ") }

  package static let installed = [
    ["/bin/sh"], ["/bin/dash"], ["/bin/bash"], ["/bin/bash", "--posix"],
  ]
  .filter { FileManager.default.isExecutableFile(atPath: $0[0]) }
  .map { Shell(arguments: $0) }
}
