// `--affected`: of the steps that would run, only those that have changed since a commit, and those
// that depend on them.

import Caching
import Diagnostics
import Execution
import Glibc
import Masking
import Pipelines
import Plans
import Reporting
import Scheduling
import State

extension Tool {
  /// Options with which the files of a pipeline are noted.
  func noting(_ reads: ReadPaths, _ options: PlanningOptions) -> PlanningOptions {
    var options = options
    options.files = reads.files(options.files)
    return options
  }

  /// The part of a plan that is affected; nil if the whole plan is wanted.
  func affectedPart(
    of planned: PlannedPipeline, _ reads: ReadPaths
  ) throws(UsageFailure) -> AffectedPart? {
    guard let reference = planned.invocation.text(Options.affected) else { return nil }
    do throws(GitFailure) {
      let workspace = try Self.workspace()
      let repository = try GitRepository(around: workspace)
      let base = try repository.base(of: reference)
      let found = try repository.changes(since: base)
      // Files that steps have made are not in the repository, unless somebody has put them there.
      let declared = Declarations(planned.plan, workspace: workspace)
      let files = found.tracked + found.untracked.filter { !declared.make($0) }
      let versions = EarlierFiles(
        repository: repository, base: base,
        changed: Set((found.tracked + found.untracked).map { PathName($0) }),
        workspace: workspace)
      // The files of the pipeline count by their contents.
      let sources = Set(
        (reads.paths.map(\.text) + [planned.path]).flatMap(versions.places).map { PathName($0) })
      let others = files.filter {
        !sources.contains(PathName($0)) && !sources.contains(PathName(LinkTrail($0).end))
      }
      var changes = AffectedSteps.Changes(
        ChangedPaths(files, folders: found.folders),
        anything: ChangedPaths(others, folders: found.folders))
      changes.outputs = ChangedPaths(found.tracked)
      changes.root = repository.root
      (changes.edited, changes.new) = planned.editedSteps(readFrom: reads.paths, versions)
      let steps = AffectedSteps(planned.plan, changes, workspace: workspace)
      return AffectedPart(
        steps, in: planned.plan, reference: reference, workspace: workspace)
    } catch {
      throw .unknownChanges(
        since: reference, error.reason, help: error.help, planned.invocation.command)
    }
  }

  private static func workspace() throws(GitFailure) -> String {
    guard let folder = try? currentFolder() else {
      throw GitFailure(reason: "the current directory no longer exists")
    }
    return folder
  }

  /// The plan of the part of a pipeline.
  func plan(_ part: AffectedPart, of planned: PlannedPipeline) -> Result<Plan, ReportedFailure> {
    if part.isEverything { return .success(planned.plan) }
    var options = planned.options
    options.selection = part.selection
    return plan(planned.path, planned.pipeline, options, planned.reading)
  }
}

/// Files as they were in a commit.
private struct EarlierFiles: Sendable {
  let repository: GitRepository
  let base: String
  let changed: Set<PathName>
  let workspace: String

  func hasChanged(_ path: String) -> Bool {
    places(of: path).contains { changed.contains(PathName($0)) }
  }

  func contents(of path: String) -> [UInt8]? {
    repository.contents(of: absolute(path), in: base)
  }

  /// All paths that decide which file is found at a path: the links on the way, and the file.
  func places(of path: String) -> [String] {
    let path = absolute(path)
    let trail = LinkTrail(path)
    return [path, trail.end] + trail.places
  }

  private func absolute(_ path: String) -> String { FilePattern(path: path, below: workspace).path }
}

extension PlannedPipeline {
  /// The steps that differ from their earlier forms, and the new ones among them; all steps if that cannot be known.
  fileprivate func editedSteps(
    readFrom paths: Set<PathName>, _ versions: EarlierFiles
  ) -> (edited: Set<OperationID>, new: Set<OperationID>) {
    let hasChanged = path != "-" && versions.hasChanged(path)
    guard hasChanged || paths.contains(where: { versions.hasChanged($0.text) }) else {
      return ([], [])
    }
    let all = Set(plan.steps.indices.map { OperationID($0) })
    if path == "-" { return (all, []) }
    guard let bytes = hasChanged ? versions.contents(of: path) : try? readPipelineFile(path) else {
      // There was no such file.
      return (all, hasChanged ? all : [])
    }
    var options = options
    options.selection = []
    options.showsEveryStep = true
    options = options.refusing(reading.secrets)
    var earlierOptions = options
    earlierOptions.files = options.files.wrapping { path, read in
      versions.hasChanged(path) ? .success(versions.contents(of: path)) : read()
    }
    let earlier = LoadedPipeline(path: path, bytes: bytes, files: earlierOptions.files)
    guard let before = try? earlier.plan(earlierOptions), let now = try? pipeline.plan(options)
    else { return (all, []) }
    let edited = EditedSteps(of: now, since: before, reading.secrets.masker)
    let steps = plan.steps
    let operations = { (ids: Set<String>) in all.filter { ids.contains(steps[$0.index].id) } }
    return (operations(edited.all), operations(edited.new))
  }
}
