// Examines what a run uses of its own machine, and changes nothing.

import CLinux
import Diagnostics
import Glibc
import Processors

/// The examination of this machine.
package enum LocalChecks {
  /// The findings, except that of the state directory.
  package static var findings: [Finding] {
    [processes, controlGroup, landlock, openFiles, builtinSteps, git]
  }

  private static let state = "state directory"

  /// The finding for a state directory that no run can use.
  package static func unusableState(_ message: String, help: String?) -> Finding {
    Finding(state, .failed, message, help: help)
  }

  /// The finding about whether the state directory can be written or made; `database` says what
  /// kind of database it has, or would get.
  package static func stateDirectory(_ path: String, database: String) -> Finding {
    let name = state
    if access(path, F_OK) == 0 {
      if access(path, W_OK | X_OK) == 0 {
        return Finding(name, .ok, "\(quoted(path)) can be written; \(database)")
      }
      return Finding(
        name, .failed, "\(quoted(path)) cannot be written: \(SystemError.reason(errno))",
        help: "name another directory with --state-dir")
    }
    if access(folder(around: path), W_OK | X_OK) == 0 {
      return Finding(name, .ok, "\(quoted(path)) can be created; \(database)")
    }
    return Finding(
      name, .failed, "\(quoted(path)) cannot be created: \(SystemError.reason(errno))",
      help: "name another directory with --state-dir")
  }

  /// The path of the directory that a state directory would be made in.
  package static func folder(around path: String) -> String {
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    return path.hasPrefix("/") && parent.isEmpty ? "/" : parent.isEmpty ? "." : parent
  }

  /// The finding about the list of our children, by which processes are found that a command leaves
  /// behind (CONFIG_PROC_CHILDREN).
  private static var processes: Finding {
    access("/proc/self/task/\(getpid())/children", R_OK) == 0
      ? Finding("processes", .ok, "processes that a step leaves behind are found and ended")
      : Finding(
        "processes", .warning,
        "/proc does not list children: processes that a step leaves behind may stay",
        help: "mount /proc, with a kernel that has CONFIG_PROC_CHILDREN")
  }

  private static var controlGroup: Finding {
    let name = "control group"
    guard let own = ownControlGroup?.path else {
      return Finding(
        name, .warning,
        "cgroup v2 is not available: a process that hides may outlive a killed oprun",
        help: "containers usually have none; a user session of systemd has one")
    }
    return access(own, W_OK) == 0 && access("\(own)/cgroup.procs", W_OK) == 0
      ? Finding(name, .ok, "steps get control groups of their own")
      : Finding(
        name, .warning,
        "\(quoted(own)) cannot be written: a process that hides may outlive a killed oprun",
        help: "use a user session of systemd: systemd-run --user --scope oprun …")
  }

  private static var landlock: Finding {
    let version = Int(clinux_landlock_version())
    return version >= 3
      ? Finding("confinement", .ok, "cached steps are confined, by Landlock version \(version)")
      : Finding(
        "confinement", .warning,
        version <= 0
          ? "cached steps are not confined: the kernel has no Landlock, or it is switched off"
          : "cached steps are not confined: Landlock has version \(version), wanted 3 (Linux 6.2)",
        help: "name landlock in 'lsm=' on the kernel's command line")
  }

  private static var openFiles: Finding {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let count = Int(clamping: UInt64(limit.rlim_max))
    let steps = max(0, count - 20) / DescriptorLimits.perCommand
    if steps >= 64 {
      return Finding("open files", .ok, "enough for \(min(steps, 1_000_000)) steps at once")
    }
    return Finding(
      "open files", steps < 1 ? .failed : .warning,
      "the hard limit of \(count) is enough for \(steps) steps at once", help: "raise it: ulimit -n"
    )
  }

  private static var builtinSteps: Finding {
    let program = neighbour(named: "oprun-steps")
    return access(program, X_OK) == 0
      ? Finding("built-in steps", .ok, "\(quoted(program)) exists")
      : Finding(
        "built-in steps", .warning,
        "\(quoted(program)) does not exist: download and image steps fail",
        help: "put oprun-steps beside oprun")
  }

  private static var git: Finding {
    isOnPath("git")
      ? Finding("git", .ok, "found, for '--affected' and 'oprun watch'")
      : Finding(
        "git", .warning, "not found: '--affected' cannot be used", help: "install git")
  }
}
