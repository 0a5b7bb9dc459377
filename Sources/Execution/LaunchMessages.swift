// The messages about commands that cannot be started: all the wording of this phase.

import Diagnostics
import Expressions
import Glibc

extension LaunchFailure {
  /// The message. `name` is the program, perhaps a shell, `directory` the working directory; both as the user
  /// wrote them.
  func message(program name: String, isShell: Bool = false, directory: String?) -> String {
    if isDirectory { return directoryMessage(directory ?? ".") }
    if isConfinement {
      return "cannot confine '\(name)' to what its step declares: \(SystemError.reason(errno))"
    }
    let path = path(of: name, in: directory)
    return switch errno {
    case ENOENT where name.contains("/") && access(path, F_OK) == 0:
      "cannot run '\(name)': the interpreter in its first line, or its loader, does not exist"
    case ENOENT where isShell: "command not found: \(name), the 'shell' of this step"
    case ENOENT where name.contains("/") && name.contains(" "):
      "command not found: \(name) (a list contains the words of one command; the first is only the program)"
    case ENOENT where name.contains("$"):
      "command not found: \(name): only a shell expands '$', so write a script in place of a list"
    case ENOENT where name == "cd":
      "command not found: cd, which only a shell has: set 'working_dir'"
    case ENOENT where ["source", ".", "export", "set", "eval"].contains(name):
      "command not found: \(name), which only a shell has: write a script in place of a list"
    case ENOENT where name.contains("/"): "command not found: \(name)"
    case ENOENT:
      "command not found: \(name)\(search.place)\(didYouMeanClause(search.program(closestTo: name)))"
    case EACCES where name.contains("/"): "cannot run '\(name)': \(Self.refusal(of: path))"
    case EACCES: "cannot run '\(name)': it is not executable, or access to it is denied"
    case E2BIG: "cannot run '\(name)': the arguments and the environment are too long"
    default: "cannot run '\(name)': \(SystemError.reason(errno))"
    }
  }

  /// Why the kernel does not run the file at a path.
  private static func refusal(of path: String) -> String {
    var status = stat()
    if stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { return "it is a directory" }
      if status.st_mode & 0o111 == 0 {
        return "it is not executable: chmod +x \(shellQuoted(path))"
      }
    }
    return "access to it, or to the interpreter in its first line, is denied"
  }

  private func directoryMessage(_ directory: String) -> String {
    guard errno == ENOENT else {
      return "cannot enter working directory '\(directory)': \(SystemError.reason(errno))"
    }
    let meant = Suggester().path(closestTo: directory) { $0.hasSuffix("/") }
    return "working directory '\(directory)' does not exist\(didYouMeanClause(meant))"
  }
}

/// The notice that the limit on open files lets fewer commands run at the same time than the queues
/// do.
func fewCommands(_ limits: DescriptorLimits) -> String {
  let count = limits.commandCount
  return (count == 1 ? "one step runs at a time: " : "at most \(count) steps run at once: ")
    + "the limit on open files is \(limits.soft) (ulimit -n)"
}

/// Why a service is not started: a process of a step, or another one, listens at its port.
func portTaken(
  _ port: UInt16, by step: String?, _ process: PortHolder.ProcessName?, condition: String
) -> String {
  let holder =
    step.map { "step \(quoted($0))" } ?? process.map { "\(quoted($0.name)) (process \($0.id))" }
    ?? "another process"
  return "port \(port) is already in use by \(holder), "
    + "so '\(condition)' cannot tell whether this service is ready"
}

/// Why a service is not started: another service that is running is asked at the same port.
func portShared(_ port: UInt16, with step: String, condition: String) -> String {
  "port \(port) is also that of \(quoted(step)), which is running, so '\(condition)' cannot tell which of them is ready; "
    + "give each service a port of its own, or both the same 'mutex'"
}

/// Why a service is not ready although its conditions hold.
func portAnswered(_ port: UInt16, by step: String, condition: String) -> String {
  "port \(port) is in use by step \(quoted(step)), which '\(condition)' reaches instead of this service"
}

func logLost(_ path: String) -> String {
  "the log \(quoted(path)) was removed or replaced while its command was running"
}

func outputWithheld(by step: String) -> String {
  "\(quoted(step)) has reached its 'log_limit': further output is shown when the command ends, with the "
    + "middle left out if there is too much"
}

/// Why the kernel refused a new process.
func refusalMessage(_ error: SystemError) -> String {
  switch error.errno {
  case EAGAIN: "\(error.message) (is the limit on processes, 'ulimit -u', reached?)"
  case EMFILE: "\(error.message) (the limit on open files is 'ulimit -n')"
  default: error.message
  }
}
