// Prepares confined commands: asks once what the kernel can do, and turns the files that a command
// may reach into rules. It does not know why a command is confined. docs/confined-steps.md

import CLinux
import Caching
import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

final class Confiner {
  private let workspace: String
  private var outside: OutsideRules
  private var last: (moment: Nanoseconds, rules: RuleList)?
  /// The workspace, and the directories around it.
  private lazy var foldersAround = Confiner.folders(around: workspace)
  /// Why nothing can be confined; nil if it can.
  private let obstacle: String?
  private var saidObstacles: Set<String> = []
  private var state: (folder: String, path: String?)?
  private let temporary: TemporaryFolders
  /// The messages that nobody has been told yet.
  private var notices: [String] = []

  /// The first version in which a file cannot be truncated against the rules.
  static let neededVersion = 3

  /// Keeps at most `openLimit` descriptors open.
  init(
    workspace: String, openLimit: Int, _ temporary: TemporaryFolders,
    kernelVersion: Int = Int(clinux_landlock_version())
  ) {
    self.workspace = workspace
    self.temporary = temporary
    outside = OutsideRules(workspace: workspace, openLimit: openLimit)
    obstacle =
      if kernelVersion < Confiner.neededVersion {
        unconfined(oldKernel(version: kernelVersion))
      } else if workspace == "/" { unconfined("oprun was started in '/'") } else { nil }
  }

  func takeNotices() -> [String] {
    defer { notices = [] }
    return notices
  }

  /// Returns a search for the files that a command can read; nil if they are known, or if it can
  /// reach everything. The search may take long.
  func search(
    for command: Command, in directory: RunDirectory, at moment: Nanoseconds? = nil
  ) -> (() -> [FileName]?)? {
    guard let confinement = command.confinement, confinement.hasOpenPatterns,
      case .confined = verdict(on: confinement, confinement.writable.writablePlaces, at: moment)
    else { return nil }
    let state = stateDirectory(of: absolute(directory.path))
    return { [workspace] in
      ReadableFiles.found(by: confinement, workspace: workspace, state: state)
    }
  }

  /// Makes what the command of a cached step needs to start; nil for another command. `found` is
  /// the result of its search; if that is nil, there were too many files, and the command is not
  /// confined. Files beside the workspace are looked up once for all commands that start at the
  /// same moment.
  func start(
    of command: Command, in directory: RunDirectory, found: [FileName]? = [],
    at moment: Nanoseconds? = nil
  ) throws(SystemError) -> PreparedStart? {
    guard let confinement = command.confinement else { return nil }
    let writable = confinement.writable.writablePlaces
    var verdict = verdict(on: confinement, writable, at: moment)
    if found == nil, case .confined = verdict {
      say(tooManyFiles(foundBy: confinement.inputs.patterns))
      verdict = .impossible
    }
    let folder = absolute(directory.path)
    let hasOwn = command.environment.variables.contains { $0.name == "TMPDIR" }
    // If this fails, nothing else has been made.
    let ownFolder = hasOwn ? nil : TemporaryPlace(try temporary.make(), in: folder, of: temporary)
    let outsideRules: RuleList
    switch verdict {
    case .confined(let rules): outsideRules = rules
    case .open: return PreparedStart(writable.makeFolders(), ownFolder)
    case .impossible:
      return PreparedStart(writable.makeFolders(), ownFolder, lacksConfinement: true)
    }
    var places = ConfinementRules(confinement, writable, found: found ?? [])
    places.addFile("\(folder)/\(command.outputsName)")
    places.mark()
    // The rule opens the pipe of a jobserver, which some programs open by name; it is reduced to
    // that of a file.
    if command.sharesJobs { places.addFolder("\(folder)/\(RunDirectory.jobserverName)") }
    if let ownFolder { places.addFolder(ownFolder.path) }
    let search = RefusalSearch(
      workspace: workspace, directory: absolute(command.directory ?? workspace),
      rules: places.rules, start: wallTime())
    return PreparedStart(
      (outsideRules, RuleList(places.rules, odd: places.oddRules)),
      places.placeholders, search, ownFolder)
  }

  /// The state directory, without links, around the directory of the run. All commands have the same.
  private func stateDirectory(of folder: String) -> String? {
    if let state, state.folder == folder { return state.path }
    let path = realPath("/" + folder.split(separator: "/").dropLast(2).joined(separator: "/"))
    state = (folder, path)
    return path
  }

  private enum Verdict {
    /// Confined by these rules for what lies beside the workspace, and by its own.
    case confined(RuleList)
    /// The command need not be confined on any machine, or its declaration leaves nothing to confine.
    case open
    /// The command should be confined, and this machine cannot do that now.
    case impossible
  }

  /// Decides whether a command is confined; a reason against it is reported once.
  private func verdict(
    on confinement: Confinement, _ writable: [WritablePlace], at moment: Nanoseconds?
  ) -> Verdict {
    if !confinement.isEnforced { return .open }
    if let place = writable.first(where: { $0.isOne(of: foldersAround) }) {
      say(obstacle ?? openedWorkspace(by: place.pattern))
      return .open
    }
    do throws(SystemError) {
      if obstacle == nil {
        if let moment, let last, last.moment == moment { return .confined(last.rules) }
        let rules = try outside.current()
        last = moment.map { ($0, rules) }
        return .confined(rules)
      }
    } catch {
      say(unconfined(error.message))
    }
    if let obstacle { say(obstacle) }
    return .impossible
  }

  private static func folders(around workspace: String) -> Set<FileIdentity> {
    var folders: Set<FileIdentity> = []
    var path = workspace
    while true {
      var status = stat()
      if stat(path, &status) == 0 { folders.insert(FileIdentity(status)) }
      guard path != "/", let slash = path.lastIndex(of: "/") else { return folders }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
  }

  private func say(_ obstacle: String) {
    if saidObstacles.insert(obstacle).inserted { notices.append(obstacle) }
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(workspace)/\(path)"
  }
}

/// One command of a cached step, from before its start until it has ended.
final class PreparedStart {
  /// The rules that the kernel is given.
  typealias Rules = (outside: RuleList, own: RuleList)

  /// False if the command can reach everything.
  let isConfined: Bool
  /// True if the command can reach everything although its step wants it confined.
  let lacksConfinement: Bool
  /// The rules, until the command is started: directories beside the workspace stay open as long as they live.
  private var rules: Rules?
  private let temporary: TemporaryPlace?
  private let search: RefusalSearch?
  private let placeholders: Placeholders
  private var isOver = false

  /// Makes the start of a command that can reach everything.
  fileprivate init(
    _ placeholders: Placeholders, _ temporary: TemporaryPlace?, lacksConfinement: Bool = false
  ) {
    isConfined = false
    self.lacksConfinement = lacksConfinement
    self.temporary = temporary
    search = nil
    self.placeholders = placeholders
  }

  fileprivate init(
    _ rules: Rules, _ placeholders: Placeholders, _ search: RefusalSearch,
    _ temporary: TemporaryPlace?
  ) {
    isConfined = true
    lacksConfinement = false
    self.rules = rules
    self.placeholders = placeholders
    self.search = search
    self.temporary = temporary
  }

  /// The directory for temporary files; nil if the step has one of its own.
  var temporaryPath: String? { temporary?.path }

  /// Takes the rules; nil if the command can reach everything. The caller keeps them until the new
  /// process has its program.
  func takeRules() -> Rules? {
    defer { rules = nil }
    return rules
  }

  /// The bytes at the end of a log in which refusals are looked for.
  private static let reach = 64 * 1024

  /// Why a command may have failed; nil if its confinement is not the reason.
  func explanation(of status: CommandEnd.Status, _ program: String, log: LogFile?) -> String? {
    guard let search else { return nil }
    var text = log.map(PreparedStart.tail) ?? ""
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
  func end(hasSucceeded: Bool = false) {
    if isOver { return }
    isOver = true
    placeholders.removeUntouched(hasSucceeded: hasSucceeded)
    temporary?.remove()
  }

  deinit { end() }
}
