// Tasks that one call of `sbatch` submits: one as a job, several as an array. docs/design-slurm.md

import Diagnostics
import Plans
import Running
import Scheduling

/// The properties that tasks must share to be submitted together.
struct JobShape: Hashable {
  private let home: ObjectIdentifier
  private let request: SlurmRequest
  private let priority: Int16
  private let width: SlurmWidth?

  init(_ task: SlurmTask) {
    home = ObjectIdentifier(task.home)
    request = task.request
    priority = task.order.priority
    width = task.order.width
  }
}

/// The tasks of one submission.
struct SlurmBatch {
  struct Member {
    let key: CommandKey
    let number: Int
  }

  let members: [Member]
  /// The name for people: that of its step, or what the names of its steps have in common.
  var name = ""
  /// The number of jobs that may run at once; nil for all.
  var throttle: Int?

  init(_ members: [Member], throttle: Int? = nil) {
    self.members = members
    self.throttle = throttle
  }

  var isArray: Bool { members.count > 1 }

  /// The base to which the index of a job in the array is added to get the number of its task.
  var base: Int { members.lazy.map(\.number).min() ?? 0 }

  /// The largest index of a job in the array.
  var span: Int { (members.lazy.map(\.number).max() ?? 0) - base }

  /// The name of the job of a member, given what `sbatch` has answered.
  func job(of member: Member, _ answer: String) -> String {
    isArray ? JobName(array: answer, index: member.number - base).text : answer
  }

  /// The value of `--array`.
  var indices: String {
    let base = base
    return ranges(of: members.map { $0.number - base }) + (throttle.map { "%\($0)" } ?? "")
  }
}

/// The name of a job as people and commands of Slurm write it: `1234`, or `1234_5` for one of an array.
struct JobName: Hashable {
  let array: String
  /// The index in the array; nil if the job is in none.
  let index: Int?

  init(array: String, index: Int?) {
    self.array = array
    self.index = index
  }

  init(_ text: String) {
    let parts = text.split(separator: "_", maxSplits: 1)
    array = String(parts.first ?? "")
    index = parts.count > 1 ? Int(parts[1]) : nil
  }

  var text: String { index.map { "\(array)_\($0)" } ?? array }

  /// The words by which commands name many jobs: those of an array are one word.
  static func words(for names: [String]) -> [String] {
    var arrays: [String: [Int]] = [:]
    var words: [String] = []
    for name in names.map({ JobName($0) }) {
      guard let index = name.index else {
        words.append(name.array)
        continue
      }
      if arrays[name.array] == nil { words.append(name.array) }
      arrays[name.array, default: []].append(index)
    }
    return words.map { word in
      guard let indices = arrays[word] else { return word }
      return indices.count == 1 ? "\(word)_\(indices[0])" : "\(word)_[\(ranges(of: indices))]"
    }
  }
}

/// Numbers as Slurm writes sets of them: `0-4,7`.
func ranges(of numbers: [Int]) -> String {
  var ranges: [ClosedRange<Int>] = []
  for number in numbers.sorted() {
    if let last = ranges.last, number <= last.upperBound + 1 {
      ranges[ranges.count - 1] = last.lowerBound...max(number, last.upperBound)
    } else {
      ranges.append(number...number)
    }
  }
  return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    .joined(separator: ",")
}
