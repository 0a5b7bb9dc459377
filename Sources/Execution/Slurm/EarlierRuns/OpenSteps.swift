// Which task makes the result of a cached step. The lock of a step ends with the process of the run that has it, and a job
// goes on when its run was left: so the task is noted beside the locks before it is submitted.

import Diagnostics
import Glibc
import RunFiles

/// The notes in `cache/open` of a state directory. A note is only changed by who has the lock of its step; one of a task
/// that has ended means nothing.
package struct OpenSteps {
  /// What was seen of runs a moment ago: many steps may wait for jobs of one run, and ask again and again. Only that
  /// something goes on is remembered: that nothing does could be older than a note.
  private final class Seen {
    var runs: [String: (unfinished: Set<Int>, at: Int64)] = [:]
  }

  private let seen = Seen()
  /// The path of the state directory.
  private let state: String
  /// What the run knows that asks: it takes this over.
  private let own: OpenWork?
  private let hadJobs: (String) -> Bool

  /// `hadJobs` says of a run what `OpenWork` is to know of it.
  package init(
    in state: String, takingOver own: OpenWork? = nil,
    hadJobs: @escaping (String) -> Bool = { _ in false }
  ) {
    self.state = state
    self.own = own
    self.hadJobs = hadJobs
  }

  /// The open steps of the state directory in which a run has this directory.
  init(beside run: String) {
    let parts = run.split(separator: "/", omittingEmptySubsequences: false)
    self.init(in: parts.dropLast(2).joined(separator: "/"))
  }

  /// For how long what was seen counts, in nanoseconds.
  private static let memory: Int64 = 1_000_000_000

  private var folder: String { "\(state)/cache/open" }

  private func place(of step: String) -> String { "\(folder)/\(step)" }

  /// Notes the task with this number of a run. `step` is the name of its lock.
  func note(_ step: String, of run: String, _ number: Int) throws(SystemError) {
    if mkdir(folder, 0o700) != 0, errno != EEXIST { throw .last("cannot create \(quoted(folder))") }
    let place = place(of: step)
    unlink(place)
    // What a symbolic link says is made, and read, as a whole.
    guard symlink("\(run):\(number)", place) == 0 else {
      throw .last("cannot create \(quoted(place))")
    }
  }

  /// Takes the note away, if it is about this task.
  func remove(_ step: String, of run: String, _ number: Int) {
    if noted(step).map({ $0 == (run, number) }) == true { unlink(place(of: step)) }
  }

  /// The run, left or dead, of which a job may make the result of the step; nil if there is none.
  package func run(making step: String) -> String? {
    guard let (run, number) = noted(step) else { return nil }
    if own?.tasks.values.contains(where: { $0.origin.run == run && $0.origin.number == number })
      == true
    {
      return nil
    }
    if let known = seen.runs[run], monotonicTime() < known.at + Self.memory,
      known.unfinished.contains(number)
    {
      return run
    }
    do throws(OpenWork.Unknown) {
      let jobs = EarlierJobs(runID: run, folder: "\(state)/runs/\(run)")
      let work = try OpenWork(of: jobs, hadJobs: hadJobs(run))
      let unfinished = work.unfinished
      seen.runs[run] = (unfinished, monotonicTime())
      return unfinished.contains(number) ? run : nil
    } catch {
      if case .copied = error { return nil }
      return run
    }
  }

  /// The task that makes the result of the step, by the note, and the directory of its run.
  func task(making step: String) -> JournalEntry.Origin? {
    noted(step).map {
      JournalEntry.Origin(folder: "\(state)/runs/\($0.run)", run: $0.run, number: $0.number)
    }
  }

  private func noted(_ step: String) -> (run: String, number: Int)? {
    var bytes = [CChar](repeating: 0, count: 128)
    let count = readlink(place(of: step), &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    let text = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let colon = text.firstIndex(of: ":"),
      let number = Int(text[text.index(after: colon)...]),
      StateFolder.isRunName(String(text[..<colon]))
    else { return nil }
    return (String(text[..<colon]), number)
  }
}
