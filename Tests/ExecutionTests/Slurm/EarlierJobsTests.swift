// What a run has left with Slurm, as its files say, and what becomes of the files.

import Foundation
import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `Jobs of an earlier run` {
  private let file = "steps: [{id: a, run: '0@50'}]"

  private func submissions(_ run: SlurmRun) -> [String] {
    run.slurm.calls.filter { !$0.hasSuffix("squeue") }
  }

  private func exists(_ run: SlurmRun, _ name: String) -> Bool {
    access(run.folder.path(of: name), F_OK) == 0
  }

  @Test func `are at an end everywhere when the last run has their results`() throws {
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    #expect(try first.jobs.isOpen() && first.jobs.mayHaveJobs)
    #expect(exists(first, "@node/tasks/1"))
    try Data("begun\n".utf8).write(to: URL(filePath: first.folder.path(of: "a.1.log")))
    let second = try SlurmRun(file, id: "r2", signals: [(8, 1)], after: first)
    _ = second.timeline()
    // The job that goes on writes where it did.
    #expect(exists(first, "a.1.log") && !exists(second, "a.1.log"))
    #expect(try second.jobs.isOpen() && second.jobs.mayHaveJobs)
    let third = try SlurmRun(file, id: "r3", after: second)
    #expect(third.timeline() == "0:+a 0:a>6 52:-a=0 52:a=succeeded 52:end=0")
    #expect(!exists(first, "a.1.log") && exists(third, "a.1.log"))
    for run in [first, second, third] {
      #expect(try !run.jobs.isOpen())
      #expect(!run.jobs.mayHaveJobs)
    }
    #expect(!exists(first, "@node") && !exists(third, "@node"))
  }

  @Test func `have not ended before that is recorded`() throws {
    let first = try SlurmRun(
      "steps: [{id: a, run: '0@2'}]",
      observer: Recorder { event in
        if case .began = event { false } else { nil }
      })
    #expect(first.timeline().hasSuffix("a=succeeded 4:end=0"))
    #expect(try first.jobs.isOpen() && !first.jobs.mayHaveJobs)
    let second = try SlurmRun("steps: [{id: a, run: '0@2'}]", id: "r2", after: first)
    #expect(second.timeline().hasSuffix("a=succeeded 0:end=0"))
    #expect(submissions(second) == ["0:sbatch"])
    #expect(try !first.jobs.isOpen() && !exists(first, "@node"))
  }

  @Test func `keep their logs where they are before their ends are recorded`() throws {
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    try Data("begun\n".utf8).write(to: URL(filePath: first.folder.path(of: "a.1.log")))
    let second = try SlurmRun(
      file, id: "r2", after: first,
      observer: Recorder { event in
        if case .began = event { false } else { nil }
      })
    #expect(second.timeline().hasSuffix("a=succeeded 52:end=0"))
    #expect(exists(first, "a.1.log") && exists(second, "a.1.log"))
    let third = try SlurmRun(file, id: "r3", after: second)
    #expect(third.timeline().hasSuffix("a=succeeded 0:end=0"))
    #expect(!exists(first, "a.1.log") && exists(third, "a.1.log"))
  }

  @Test func `have not ended while a hook of the step runs`() throws {
    let isOpen = Found()
    let run = try SlurmRun(
      "steps: [{id: a, run: '0@2', on_success: '0@9'}, {id: b, run: '0@5'}]",
      observer: Recorder { event in
        if case .settled(OperationID(1), _, _) = event { isOpen.look() }
        return nil
      })
    isOpen.jobs = run.jobs
    #expect(run.timeline().hasSuffix("end=0"))
    #expect(isOpen.steps == ["a", "b"])
  }

  @Test func `need no directory any more when they have left results`() throws {
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    try NodeFiles.open(in: first.folder.directory.path).write([], to: .results, "1.0")
    #expect(try first.jobs.isOpen() && !first.jobs.mayHaveJobs)
  }

  @Test func `are found whichever path leads to the directory`() throws {
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    let link = first.folder.directory.path + ".link"
    symlink(first.folder.directory.path, link)
    defer { unlink(link) }
    let second = try SlurmRun(file, id: "r2", after: first, path: link)
    #expect(second.timeline() == "0:+a 52:-a=0 52:a=succeeded 52:end=0")
    #expect(submissions(second) == ["0:sbatch"])
  }

  @Test func `of an older oprun are found by the path`() throws {
    let folder = TemporaryRun()
    let files = try NodeFiles.make(in: folder.directory.path)
    #expect(files.mark(of: "r1").prefix == "oprun:r1-\(files.word ?? ""):")
    unlink("\(files.path)/mark")
    let old = try NodeFiles.open(in: folder.directory.path).mark(of: "r1")
    #expect(old.prefix == "oprun:r1-\(shortDigest(of: folder.directory.path)):")
  }

  @Test func `are not taken for none if the journal cannot be read`() throws {
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    let journal = first.folder.path(of: "@node/journal")
    rename(journal, journal + ".aside")
    symlink(journal + ".aside", journal)
    #expect(throws: (any Error).self) { try first.jobs.isOpen() }
    #expect(throws: (any Error).self) { try OpenWork(of: first.jobs) }
    #expect(first.jobs.mayHaveJobs)
    let second = try SlurmRun(file, id: "r2", after: first)
    let timeline = second.timeline()
    #expect(timeline.hasPrefix("0:stopping"), "\(timeline)")
    #expect(timeline.hasSuffix("end=74"), "\(timeline)")
    #expect(submissions(second) == ["0:sbatch"])
  }

  @Test func `are taken over only by what can read their files`() throws {
    let first = try SlurmRun(file, signals: [(8, 1)])
    _ = first.timeline()
    let second = try SlurmRun(file, id: "r2", signals: [(0, 1)], after: first)
    _ = second.timeline()
    let tasks = first.folder.path(of: "@node/tasks")
    rename(tasks, tasks + ".aside")
    symlink(tasks, tasks)
    let third = try SlurmRun(
      "steps: [{id: a, run: '0@50', retry: 2}]", id: "r3", after: second)
    #expect(third.timeline().contains("a=failed"))
    #expect(submissions(third) == ["0:sbatch"])
    #expect(try third.jobs.isOpen())
  }

  @Test func `end by whole lines of the journal only`() throws {
    let folder = TemporaryRun()
    let files = try NodeFiles.make(in: folder.directory.path)
    let entry = JournalEntry(step: "a", digest: "d", logName: "l", outputsName: "o")
    for number in [12, 123] { try SlurmJournal(in: files.path).add(entry, number: number) }
    let whole = try String(contentsOfFile: "\(files.path)/journal", encoding: .utf8)
    try Data((whole + "end\t12").utf8).write(to: URL(filePath: "\(files.path)/journal"))
    try SlurmJournal(in: files.path).note(job: "7", of: 12)
    let entries = try SlurmJournal.entries(in: files.path)
    #expect(entries[12]?.hasEnded == false && entries[12]?.job == "7")
    #expect(entries[123]?.hasEnded == false)
  }

  @Test func `have results that are waited for while they cannot be listed`() throws {
    let run = try SlurmRun("steps: [{id: a, run: '0@2'}, {id: b, run: '0@20'}]")
    run.slurm.blindness = 5..<12
    let results = "\(run.folder.directory.path)/@node/results"
    #expect(
      run.timeline()
        == "0:+a 0:+b 4:-a=0 4:a=succeeded 5:!cannot list '\(results)': not a directory: results "
        + "are looked for again, and the run waits 22:-b=0 22:b=succeeded 22:end=0")
  }

  @Test func `have names without secrets`() throws {
    let run = try SlurmRun(
      "steps: [{id: b, matrix: {v: [alpha1234]}, run: '0@50'}]", signals: [(8, 1)],
      secret: "alpha1234")
    _ = run.timeline()
    #expect(run.slurm.jobs.map { $0.name.prefix { $0 != "." } } == ["b[v=___]_0"])
    let journal = try String(
      contentsOfFile: run.folder.path(of: "@node/journal"), encoding: .utf8)
    #expect(journal.split(separator: "\t")[2].hasPrefix("#"))
    let second = try SlurmRun(
      "steps: [{id: b, matrix: {v: [alpha1234]}, run: '0@50'}]", id: "r2", after: run,
      secret: "alpha1234")
    #expect(second.timeline().hasSuffix("end=0"))
    #expect(submissions(second) == ["0:sbatch"])
  }
}

/// Says of some events whether everything until then is recorded.
private final class Recorder: RunObserver {
  private let decide: (RunEvent.Kind) -> Bool?
  private(set) var hasRecordedAll = true

  init(_ decide: @escaping (RunEvent.Kind) -> Bool?) { self.decide = decide }

  func observe(_ event: RunEvent) { hasRecordedAll = decide(event.kind) ?? hasRecordedAll }
}

/// The steps that a run has open with Slurm at a moment.
private final class Found {
  var jobs: EarlierJobs?
  private(set) var steps: [String] = []

  func look() { steps = ((try? jobs?.openSteps()) ?? [:]).keys.sorted() }
}
