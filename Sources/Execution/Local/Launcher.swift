// Converts a command into what the kernel of this machine needs: a program, C strings, descriptors.

import CLinux
import Diagnostics
import Expressions
import Glibc
import Plans
import Running

/// Prepares commands to be started here. Commands with the same environment share its C strings.
final class Launcher {
  private let nullInput: Descriptor
  /// The program of the built-in steps, which is installed next to this one.
  private lazy var helper = neighbour(named: "oprun-steps")
  private var environments = IdentityCache<CommandEnvironment, Environment>()
  /// The shell of the last script, and its words before a script. Hardly a run has more than one shell.
  private var lastShell: (shell: [String], words: [String])?
  /// The last program that was named with its path, which is often that of the next command.
  private var lastPath: (name: String, programs: [[UInt8]]) = ("", [])

  /// Longer strings cannot be an argument: the kernel's MAX_ARG_STRLEN is 128 KiB.
  private static let longestArgument = 131_071

  /// The jobserver for commands that share slots.
  private let jobs: JobAccess?
  /// The MAKEFLAGS of all other commands; nil if it stays as inherited.
  private let flagsWithoutJobs: String?

  init(jobs: JobAccess?, inherited: InheritedJobserver) throws(SystemError) {
    self.jobs = jobs
    flagsWithoutJobs = inherited.state == .absent ? nil : inherited.flags.withoutJobs
    let input = try Descriptor.open("/dev/null", O_RDWR).get("cannot open '/dev/null'")
    nullInput = Descriptor(owning: movedUp(input.release()))
  }

  /// Opens the descriptors that only this command needs; `release` closes them.
  func request(for command: Command) throws(SystemError) -> LaunchRequest {
    let environment = environment(of: command)
    let (words, script) = arguments(of: command.work)
    let isAlone = if case .script = command.work { words.count == 1 } else { false }
    let programs = programs(for: words[0], isAlone: isAlone, environment)
    var request = LaunchRequest(
      programs: programs, arguments: words, environment: environment,
      ownVariables: command.variables, directory: command.directory, input: nullInput.number,
      output: -1, script: nil, nice: command.limits.nice)
    if command.sharesJobs, let jobs { request.kept = (jobs.read, jobs.write) }
    request.script = try script.map { text throws(SystemError) in try memoryFile(text) }
    do throws(SystemError) {
      if let text = command.input {
        request.input = try memoryFile(text)
        request.ownsInput = true
      }
    } catch {
      release(script: request.script, input: request.input)
      throw error
    }
    return request
  }

  /// Closes the descriptors of one request; the new process has its own copies.
  func release(script: Int32?, input: Int32) {
    if let script { close(script) }
    if input != nullInput.number { close(input) }
  }

  /// The words to execute. A plain command is executed directly; the shell reads a script that is
  /// too long for an argument from descriptor 3.
  private func arguments(of work: Command.Work) -> (words: [String], script: String?) {
    switch work {
    case .words(let words): return (words, nil)
    case .builtin(let words): return ([helper] + words, nil)
    case .script(let text, let shell):
      if shell == StepSettings.defaultShell, let words = directArguments(of: text) {
        return (words, nil)
      }
      if text.utf8.count > Launcher.longestArgument {
        return (Interpreter.argumentsForDescriptor3(shell), text)
      }
      return (words(before: text, of: shell) + [text], nil)
    }
  }

  private func words(before script: String, of shell: [String]) -> [String] {
    if let lastShell, lastShell.shell == shell { return lastShell.words }
    let words = Array(Interpreter.arguments(shell, script: script).dropLast())
    lastShell = (shell, words)
    return words
  }

  /// The paths to try for a program. If the program is the whole script, and shells have it built
  /// in, it is found whatever PATH says.
  private func programs(
    for name: String, isAlone: Bool, _ environment: Environment
  ) -> [[UInt8]] {
    if name.utf8.contains(UInt8(ascii: "/")) {
      if lastPath.name != name { lastPath = (name, [Array(name.utf8)]) }
      return lastPath.programs
    }
    let end = Array("/\(name)".utf8)
    let inShells = isAlone && isBuiltinAlone(name)
    let builtin = inShells ? ["/bin", "/usr/bin"].map { Array($0.utf8) } : []
    return (builtin + environment.searchPath).map { $0 + end }
  }

  private func environment(of command: Command) -> Environment {
    // Commands with the same environment either all share slots or none does.
    let (shared, sharesJobs) = (command.environment, command.sharesJobs)
    return environments.value(for: shared) {
      let flags = sharesJobs ? jobs?.flags : flagsWithoutJobs
      let added = flags.map { [EnvironmentVariable(name: "MAKEFLAGS", value: $0)] } ?? []
      return Environment(adding: added + shared.variables, inheriting: shared.inherited)
    }
  }

  /// A file that exists only in memory, positioned at its start, with the text as its content.
  private func memoryFile(_ text: String) throws(SystemError) -> Int32 {
    let file = clinux_memory_file("oprun")
    guard file >= 0 else { throw SystemError("cannot create a file in memory", errno: -file) }
    var text = text
    let isWritten = text.withUTF8 { bytes in
      write(file, bytes.baseAddress, bytes.count) == bytes.count
    }
    guard isWritten else {
      let error = SystemError.last("cannot create a file in memory")
      close(file)
      throw error
    }
    lseek(file, 0, SEEK_SET)
    return file
  }
}

/// The path of a program in the directory of this one.
package func neighbour(named name: String) -> String {
  guard let path = realpath("/proc/self/exe", nil) else { return name }
  defer { free(path) }
  let own = String(cString: path)
  return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/" + name
}
