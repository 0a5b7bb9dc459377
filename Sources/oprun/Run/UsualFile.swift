// The pipeline file of a project, which is searched for here and in the directories above.

import Diagnostics
import Glibc
import Reporting

extension PipelineSearch {
  static let system = PipelineSearch(
    fileExists: { access($0, F_OK) == 0 },
    usualFile: { () throws(UsageFailure) -> String? in try findUsualFile() },
    otherFile: { pipeline(in: "", with: $0).flatMap(wordForHelp) })
}

/// The usual file here or above, as a path from here, such as `../../oprun.yml`.
private func findUsualFile() throws(UsageFailure) -> String? {
  guard let here = getcwd(nil, 0) else { return nil }
  defer { free(here) }
  let depth = String(cString: here).split(separator: "/").count
  for level in 0...depth {
    let prefix = String(repeating: "../", count: level)
    for name in PipelineSearch.names {
      guard let owner = ownerOfFile(prefix + name) else { continue }
      // A user who can write to a directory above, such as /tmp, could otherwise have commands run
      // by anybody who works below it.
      if level > 0, !isTrusted(owner) { throw .foreignFile(prefix + name) }
      return prefix + name
    }
  }
  return nil
}

private func isTrusted(_ owner: uid_t) -> Bool {
  var here = stat()
  return owner == 0 || owner == geteuid() || stat(".", &here) == 0 && owner == here.st_uid
}

/// The owner of a file; nil if there is none.
private func ownerOfFile(_ path: String) -> uid_t? {
  var status = stat()
  guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
  return status.st_uid
}

extension Tool {
  /// Changes to the directory of the file that was found. False if that fails, which has been
  /// reported.
  func enter(_ invocation: inout Invocation) -> Bool {
    guard let directory = invocation.directory, let file = invocation.operands.first else {
      return true
    }
    invocation.startDirectory = currentDirectory()
    if let start = invocation.startDirectory {
      invocation.anchorPaths(in: start)
    } else if invocation.hasRelativePath {
      say(
        "the name of the current directory is not UTF-8, so paths of options that begin here cannot be used",
        help: "change to the directory of the pipeline first: cd \(directory)")
      return false
    }
    guard chdir(directory) == 0 else {
      say("cannot enter \(quoted(directory)): \(SystemError.reason(errno))")
      return false
    }
    if let here = getcwd(nil, 0) {
      setenv("PWD", here, 1)
      free(here)
    }
    say("found \(quoted(directory + "/" + file)), which runs in its own directory")
    return true
  }
}

extension Subcommand {
  /// True if the effect of the command depends on where it is started.
  var usesDirectory: Bool {
    takesFile || options.contains { $0.name == Options.stateDirectory.name }
  }
}

/// Refuses a directory whose path cannot be passed to steps.
func checkDirectory() throws(UsageFailure) {
  guard let path = getcwd(nil, 0) else { return }
  defer { free(path) }
  if String(validatingCString: path) != nil { return }
  let names = UnsafeRawBufferPointer(start: path, count: strlen(path)).split(
    separator: UInt8(ascii: "/"))
  let name = names.map(Array.init).first { String(validating: $0, as: UTF8.self) == nil }
  throw .unnamable(directory: printable(name ?? []))
}

/// The current directory; nil if its path is not UTF-8, or if it is gone.
func currentDirectory() -> String? {
  guard let path = getcwd(nil, 0) else { return nil }
  defer { free(path) }
  return String(validatingCString: path)
}
