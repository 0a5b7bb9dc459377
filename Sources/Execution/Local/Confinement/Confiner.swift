// Prepares confined commands: asks what the kernel can do, once, and turns what a command may reach into
// rules. It does not know why a command is confined. docs/confined-steps.md

import CLinux
import Diagnostics
import Glibc
import Plans
import RunFiles
import Running

final class Confiner {
  private let workspace: String
  private var outside: OutsideRules
  /// Why nothing can be confined; nil if it can.
  private let obstacle: String?
  private var saidObstacles: Set<String> = []
  /// What people should know and have not been told.
  private var notices: [String] = []

  /// The first version in which a file cannot be truncated against the rules.
  static let neededVersion = 3

  init(workspace: String, kernelVersion: Int = Int(clinux_landlock_version())) {
    self.workspace = workspace
    outside = OutsideRules(workspace: workspace)
    obstacle =
      if kernelVersion < Confiner.neededVersion {
        unconfined(oldKernel(version: kernelVersion))
      } else if workspace == "/" { unconfined("oprun was started in '/'") } else { nil }
  }

  func takeNotices() -> [String] {
    defer { notices = [] }
    return notices
  }

  /// Makes what the command needs to start; nil if it is not confined, because it need not be or
  /// cannot be, which is said once.
  func start(
    of command: Command, in directory: RunDirectory
  ) throws(SystemError) -> ConfinedStart? {
    guard let confinement = command.confinement else { return nil }
    if let obstacle { return say(obstacle) }
    let outsideRules: RuleList
    do throws(SystemError) {
      outsideRules = try outside.current()
    } catch {
      return say(unconfined(error.message))
    }
    var places = ConfinementRules(confinement, workspace: workspace)
    if let pattern = places.widest {
      return say(openedWorkspace(by: pattern))
    }
    let folder = absolute(directory.path)
    places.addFile("\(folder)/\(command.outputsName)")
    places.mark()
    // The pipe of a jobserver, which some programs open by its name; the rule is reduced to that of a file.
    if command.sharesJobs { places.addFolder("\(folder)/\(RunDirectory.jobserverName)") }
    let hasOwn = command.environment.variables.contains { $0.name == "TMPDIR" }
    if !hasOwn {
      try directory.makeFolder(command.temporaryName)
      places.addFolder("\(folder)/\(command.temporaryName)")
    }
    let search = RefusalSearch(
      workspace: workspace, directory: absolute(command.directory ?? workspace),
      rules: places.rules, start: wallNow())
    return ConfinedStart(
      outside: outsideRules, places: places, search,
      temporary: hasOwn ? nil : (directory, "\(folder)/\(command.temporaryName)"))
  }

  private func say(_ obstacle: String) -> ConfinedStart? {
    if saidObstacles.insert(obstacle).inserted { notices.append(obstacle) }
    return nil
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(workspace)/\(path)"
  }
}

/// One confined command, from before its start until it has ended.
final class ConfinedStart {
  let outside: RuleList
  let rules: RuleList
  /// The directory for temporary files; nil if the step has one of its own.
  let temporaryPath: String?
  private let search: RefusalSearch
  private let directory: RunDirectory?
  private let placeholders: Placeholders
  private var isOver = false

  fileprivate init(
    outside: RuleList, places: ConfinementRules, _ search: RefusalSearch,
    temporary: (directory: RunDirectory, path: String)?
  ) {
    self.outside = outside
    self.search = search
    rules = RuleList(places.rules, odd: places.oddRules)
    placeholders = places.placeholders
    directory = temporary?.directory
    temporaryPath = temporary?.path
  }

  /// The bytes at the end of a log in which refusals are looked for.
  private static let reach = 64 * 1024

  /// Why a command may have failed; nil if its confinement is not the reason.
  func explanation(of status: CommandEnd.Status, _ program: String, log: LogFile?) -> String? {
    var text = log.map(ConfinedStart.tail) ?? ""
    if case .notStarted = status { text += "\n'\(program)': Permission denied" }
    let refusals = search.refusals(in: text)
    return refusals.isEmpty ? nil : Execution.explanation(of: refusals)
  }

  private static func tail(of log: LogFile) -> String {
    var bytes = [UInt8](repeating: 0, count: reach)
    let count = bytes.withUnsafeMutableBytes { log.read(at: max(0, log.size - reach), into: $0) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Called when the command has ended, or could not be started.
  func end() {
    if isOver { return }
    isOver = true
    placeholders.removeUntouched()
    if let directory, let temporaryPath, let slash = temporaryPath.lastIndex(of: "/") {
      directory.removeFolder(String(temporaryPath[temporaryPath.index(after: slash)...]))
    }
  }

  deinit { end() }
}
