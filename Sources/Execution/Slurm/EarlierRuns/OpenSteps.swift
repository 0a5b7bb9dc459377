// Notes of which task makes the result of a cached step. The lock of a step ends with the process
// of the run that holds it, but a job goes on when its run was left: so the task is noted beside
// the locks before it is submitted.

import Diagnostics
import Glibc
import RunFiles

/// The notes in `cache/open` of a state directory. A note is changed only by the holder of its
/// step's lock; a note about a task that has ended has no meaning.
package struct OpenSteps {
  /// The state of runs as seen a moment ago: many steps may wait for jobs of one run, and ask again and
  /// again. Only unfinished tasks are remembered: that a task is finished could be older than a
  /// note.
  private final class Seen {
    var runs: [String: (unfinished: Set<Int>, at: Int64)] = [:]
  }

  private let seen = Seen()
  /// The path of the state directory.
  private let state: String
  /// The open work of the run that asks, which takes it over.
  private let own: OpenWork?
  private let hadJobs: (String) -> Bool

  /// `hadJobs` tells for a run what `OpenWork` must know about it.
  package init(
    in state: String, takingOver own: OpenWork? = nil,
    hadJobs: @escaping (String) -> Bool = { _ in false }
  ) {
    self.state = state
    self.own = own
    self.hadJobs = hadJobs
  }

  /// The open steps in the state directory of the run with this directory.
  init(beside run: String) {
    let parts = run.split(separator: "/", omittingEmptySubsequences: false)
    self.init(in: parts.dropLast(2).joined(separator: "/"))
  }

  /// The time for which an observation counts, in nanoseconds.
  private static let memory: Int64 = 1_000_000_000

  private var folder: String { "\(state)/cache/open" }

  private func place(of step: String) -> String { "\(folder)/\(step)" }

  /// Notes the task with this number of a run. `step` is the name of its lock.
  func note(_ step: String, of run: String, _ number: Int) throws(SystemError) {
    if mkdir(folder, 0o700) != 0, errno != EEXIST { throw .last("cannot create \(quoted(folder))") }
    let place = place(of: step)
    unlink(place)
    // The text of a symbolic link is written, and read, as a whole.
    guard symlink("\(run):\(number)", place) == 0 else {
      throw .last("cannot create \(quoted(place))")
    }
  }

  /// Removes the note, if it is about this task.
  func remove(_ step: String, of run: String, _ number: Int) {
    if noted(step).map({ $0 == (run, number) }) == true { unlink(place(of: step)) }
  }

  /// The run, left or dead, whose job may make the result of the step; nil if there is none.
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

  /// The task that makes the result of the step, according to the note, with the directory of its run.
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
