// The files that steps declare in `cache`, as absolute patterns, for code that looks at those of a whole pipeline.

import Diagnostics
package import Plans
import Scheduling

/// What a step declares, as absolute patterns.
package struct Declaration {
  package private(set) var inputs: [FilePattern] = []
  package private(set) var excluded: [FilePattern] = []
  /// The files that it makes, and those that it uses as it likes.
  package private(set) var outputs: [FilePattern] = []
  package private(set) var scratch: [FilePattern] = []

  /// Nil if it declares nothing, or something that is known only while it runs, or if its expressions look at files.
  package init?(_ step: PlannedStep, _ workspace: String) {
    let parts = step.late?.parts.expansion?.parts ?? step.late?.parts
    let late = parts?.settings
    guard let cache = step.settings.cache, late?.cache == nil,
      late?.workingDirectory.isEmpty != false, parts?.looksAtFiles != true
    else { return nil }
    let directory =
      step.settings.workingDirectory.map { $0.hasPrefix("/") ? $0 : "\(workspace)/\($0)" }
      ?? workspace
    func patterns(_ texts: some Sequence<String>) -> [FilePattern] {
      texts.map { FilePattern($0, below: directory) }
    }
    inputs = patterns(cache.inputs.filter { !$0.hasPrefix("!") })
    excluded = patterns(cache.inputs.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) })
    outputs = patterns(cache.outputs)
    scratch = patterns(cache.scratch)
  }

  package func inputs(among changes: ChangedPaths) -> ChangedPaths.Summary? {
    found(inputs, except: excluded, among: changes)
  }

  package func outputs(among changes: ChangedPaths) -> ChangedPaths.Summary? {
    found(outputs, except: [], among: changes)
  }

  /// The path of an input that is not in a directory, or that of the directory in which such inputs are.
  func input(outside folder: String) -> String? {
    inputs.lazy.map(\.fixedPath).first { path in
      !path.hasSameBytes(as: folder) && !path.isBelow(folder) && !folder.isBelow(path)
    }
  }

  /// Several patterns may find the same files, so the count is that of the one that finds most.
  private func found(
    _ patterns: [FilePattern], except excluded: [FilePattern], among changes: ChangedPaths
  ) -> ChangedPaths.Summary? {
    patterns.compactMap { changes.found(by: $0, except: excluded) }.max { $0.count < $1.count }
  }
}

/// The files that the steps of a plan declare.
package struct Declarations {
  /// All of them, each once.
  package let inputs: [FilePattern]
  /// True if a step declares nothing, so that any file may count.
  package let areIncomplete: Bool
  private let all: [Declaration]
  private let read: PatternIndex
  private let made: PatternIndex
  private let used: PatternIndex
  /// The paths that are read without wildcards, with all `!` patterns of each step that reads them.
  private let readWhole: [PathName: Set<[FilePattern]>]

  package init(_ plan: Plan, workspace: String) {
    var seen: Set<ObjectIdentifier> = []
    var all: [Declaration] = []
    var areIncomplete = false
    for index in plan.steps.indices
    where !plan.standsForOthers(OperationID(index)) {
      let step = plan.steps[index]
      let isNew = seen.insert(ObjectIdentifier(step.settings)).inserted
      guard isNew || step.late?.parts.settings != nil else { continue }
      if let declaration = Declaration(step, workspace) {
        all.append(declaration)
      } else if plan.graph.takesSlot(OperationID(index)) {
        areIncomplete = true
      }
    }
    self.all = all
    self.areIncomplete = areIncomplete
    inputs = Array(Set(all.flatMap(\.inputs)))
    read = PatternIndex(inputs)
    made = PatternIndex(all.flatMap(\.outputs))
    used = PatternIndex(all.flatMap(\.scratch))
    var readWhole: [PathName: Set<[FilePattern]>] = [:]
    for declaration in all {
      for input in declaration.inputs where input.isPlain {
        readWhole[PathName(input.fixedPath), default: []].insert(declaration.excluded)
      }
    }
    self.readWhole = readWhole
  }

  /// Whether a step makes a file, or uses it as it likes and none reads it. A wide pattern of one step, such as `*` in
  /// `scratch`, does not hide the inputs of others.
  package func make(_ path: String) -> Bool {
    made.covers(path) || used.covers(path) && !find(path)
  }

  /// Whether a step names a path as an input without wildcards, or a directory around it.
  package func namePlainly(_ path: String) -> Bool { read.coversPlainly(path) }

  /// Whether inputs may lie in a directory, or in one that is in it. `links` are the numbers of the names in its path
  /// that are those of links.
  package func reach(into folder: String, onlyPlainly: Bool, links: Set<Int> = []) -> Bool {
    read.reaches(into: folder, onlyPlainly: onlyPlainly)
      && (links.isEmpty
        || inputs.contains {
          (!onlyPlainly || $0.isPlain) && $0.reaches(into: folder, through: links)
        })
  }

  /// The ways in which a directory is read to which a link leads that is in a directory which is read whole. They are none
  /// if it is read under its own name, too. `place` is its path without links.
  package func foldersRead(at place: String, as path: String) -> Set<FolderRead> {
    var found: Set<FolderRead> = []
    for whole in FoldersAround(path).map(String.init) {
      let isInside = place.hasSameBytes(as: whole) || place.isBelow(whole)
      for excluded in readWhole[PathName(whole)] ?? []
      where !(isInside && excluded.isEmpty) && !excluded.contains(where: { $0.covers(path) }) {
        found.insert(
          FolderRead(
            whole: PathName(whole), place: PathName(place), excluded: excluded,
            exclusions: excluded.map { $0.places(after: path) }))
      }
    }
    return found
  }

  /// Whether a step declares that it reads a file, or what is behind a link.
  package func name(_ path: String) -> Bool { read.leads(through: path) || find(path) }

  private func find(_ path: String) -> Bool {
    read.covers(path)
      && all.contains { declaration in
        declaration.inputs.contains { $0.finds(path) }
          && !declaration.excluded.contains { $0.covers(path) }
      }
  }
}

/// One way in which a directory behind a link is read. What is read in it is the same for all links that lead to it.
package struct FolderRead: Hashable {
  /// The input that has the link in it.
  let whole: PathName
  let place: PathName
  let excluded: [FilePattern]
  /// How far each of the `!` patterns has come.
  let exclusions: [[Int]]
}
