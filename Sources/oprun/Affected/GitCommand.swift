// Runs git and reads its output.

import CLinux
import Diagnostics
import Glibc
import Processes
import RunFiles

/// One command of git, in a directory.
struct GitCommand {
  let directory: String

  struct End {
    let status: Int32
    let output: [UInt8]
    /// The first line of its error messages, without `fatal:`.
    let complaint: String
  }

  /// Options with which nothing that a repository configures is run, except the filters without
  /// which git cannot compare contents. Only the index is written, which `git diff` refreshes.
  private static let options = [
    "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false",
    "-c", "core.hooksPath=/dev/null",
  ]

  /// Runs the command to its end, with `input` as its standard input.
  func run(_ words: [String], input: [UInt8] = []) throws(SystemError) -> End {
    var open: [Int32] = []
    defer { for descriptor in open where descriptor >= 0 { close(descriptor) } }
    // The input is a file, because git may end without reading all of it.
    open.append(try file(holding: input))
    for _ in 0..<2 {
      let (outlet, inlet) = try OwnProcess.pipe("run 'git'")
      open += [outlet, inlet]
    }
    let process = try start(
      ["git", "-C", directory] + Self.options + words, [open[0], open[2], open[4]])
    for index in [2, 4] {
      close(open[index])
      open[index] = -1
    }
    let (output, errors) = Self.read(open[1], open[3])
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return End(
      status: clinux_exited(status) != 0 ? clinux_exit_status(status) : 128, output: output,
      complaint: Self.complaint(errors))
  }

  private func file(holding bytes: [UInt8]) throws(SystemError) -> Int32 {
    let file = clinux_memory_file("git")
    guard file >= 0, writeFully(bytes, to: file), lseek(file, 0, SEEK_SET) == 0 else {
      let reason = errno
      if file >= 0 { close(file) }
      throw SystemError("cannot write what git is to read", errno: reason)
    }
    return file
  }

  /// The environment of git. Its messages are compared and shown in English. A hook of git sets the
  /// repository, but not its work tree: git would take the directory in which it runs for the root.
  private static var variables: [String] {
    var left = ["LC_ALL="]
    if getenv("GIT_WORK_TREE") == nil {
      left += ["GIT_DIR=", "GIT_COMMON_DIR=", "GIT_PREFIX="]
      // The path is relative to a directory that git does not start in.
      if let index = getenv("GIT_INDEX_FILE"), index.pointee != CChar(0x2f) {
        left.append("GIT_INDEX_FILE=")
      }
    }
    var variables = ["LC_ALL=C"]
    var next = environ
    while let variable = next.pointee {
      if !left.contains(where: { strncmp(variable, $0, strlen($0)) == 0 }) {
        variables.append(String(cString: variable))
      }
      next += 1
    }
    return variables
  }

  /// Starts a program that is found through `PATH`, with these standard streams.
  private func start(_ words: [String], _ streams: [Int32]) throws(SystemError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in streams.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) }
    arguments.append(nil)
    var variables = Self.variables.map { (variable: String) in strdup(variable) }
    variables.append(nil)
    defer { for pointer in arguments + variables { free(pointer) } }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let failure = posix_spawnp(&process, words[0], &actions, &attributes, arguments, variables)
    guard failure == 0 else { throw SystemError("cannot run 'git'", errno: failure) }
    return process
  }

  /// Reads until both are closed.
  private static func read(
    _ outlet: Int32, _ errorOutlet: Int32
  ) -> (output: [UInt8], errors: [UInt8]) {
    var found: [[UInt8]] = [[], []]
    var open = [outlet, errorOutlet]
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while open != [-1, -1] {
      var ready = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      if poll(&ready, 2, -1) < 0, errno != EINTR { break }
      for index in 0..<2 where ready[index].revents != 0 {
        let count = Glibc.read(open[index], &piece, piece.count)
        if count > 0 { found[index] += piece[..<count] }
        if count == 0 || count < 0 && errno != EINTR { open[index] = -1 }
      }
    }
    return (found[0], found[1])
  }

  private static func complaint(_ bytes: [UInt8]) -> String {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("fatal: ") } ?? lines.first ?? ""
    return String(line.hasPrefix("fatal: ") ? line.dropFirst(7) : line)
  }
}
