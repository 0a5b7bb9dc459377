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
  private let ownPlaces: OwnPlaces
  /// Why nothing can be confined; nil if it can.
  private let obstacle: String?
  private var saidObstacles: Set<String> = []
  /// What people should know and have not been told.
  private var notices: [String] = []

  /// The first version in which a file cannot be truncated against the rules.
  static let neededVersion = 3

  /// `directory` is that of the run.
  init(
    workspace: String, _ directory: RunDirectory,
    kernelVersion: Int = Int(clinux_landlock_version())
  ) {
    self.workspace = workspace
    let path = directory.path
    ownPlaces = OwnPlaces(
      in: directory, path: path.hasPrefix("/") ? path : "\(workspace)/\(path)")
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
  func start(of command: Command) throws(SystemError) -> ConfinedStart? {
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
    places.mark()
    places.allowFile(ownPlaces.makeFile(command.outputsName))
    // The pipe of a jobserver, which some programs open by its name; the rule is reduced to that of a file.
    if command.sharesJobs { places.allowFolder(ownPlaces.path(of: RunDirectory.jobserverName)) }
    let hasOwn = command.environment.variables.contains { $0.name == "TMPDIR" }
    let temporary = hasOwn ? nil : command.temporaryName
    if let temporary { places.allowFolder(try ownPlaces.makeFolder(temporary)) }
    let directory = command.directory ?? workspace
    let search = RefusalSearch(
      workspace: workspace,
      directory: directory.hasPrefix("/") ? directory : "\(workspace)/\(directory)",
      rules: places.rules, start: wallNow())
    return ConfinedStart(
      outside: outsideRules, places: places, search, ownPlaces, outputs: command.outputsName,
      temporary: temporary)
  }

  private func say(_ obstacle: String) -> ConfinedStart? {
    if saidObstacles.insert(obstacle).inserted { notices.append(obstacle) }
    return nil
  }
}

/// One confined command, from before its start until it has ended.
final class ConfinedStart {
  let outside: RuleList
  let rules: RuleList
  private let search: RefusalSearch
  private let placeholders: Placeholders
  private let ownPlaces: OwnPlaces
  private let outputsName: String
  private let temporaryName: String?
  private var isOver = false

  fileprivate init(
    outside: RuleList, places: ConfinementRules, _ search: RefusalSearch, _ ownPlaces: OwnPlaces,
    outputs: String, temporary: String?
  ) {
    self.outside = outside
    self.search = search
    rules = RuleList(places.rules, odd: places.oddRules)
    placeholders = places.placeholders
    self.ownPlaces = ownPlaces
    outputsName = outputs
    temporaryName = temporary
  }

  /// The directory for temporary files; nil if the step has one of its own.
  var temporaryPath: String? { temporaryName.map(ownPlaces.path) }

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

  /// Called when the command has ended, or could not be started. What processes that live on may still use
  /// is not given to the next command.
  func end(leavesProcesses: Bool) {
    if isOver { return }
    isOver = true
    placeholders.removeUntouched()
    ownPlaces.takeBackFile(outputsName, isReused: !leavesProcesses)
    if let temporaryName {
      ownPlaces.takeBackFolder(temporaryName, isReused: !leavesProcesses)
    }
  }

  deinit { end(leavesProcesses: true) }
}
