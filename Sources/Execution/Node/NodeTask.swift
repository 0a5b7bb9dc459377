// `oprun __task RUN_DIRECTORY NUMBER`, which jobs of a cluster start: it runs one command of a run
// on this node, and writes its result. docs/design-execution.md, “Nodes”.

import CLinux
import Caching
import Diagnostics
import Glibc
import Masking
import Plans
import RunFiles
import Running

/// One start of a task, from its claim to its result.
package struct NodeTask {
  /// The word that makes oprun run a task. It is not a command for people.
  package static let word = "__task"

  private let request: NodeRequest
  private let waiting: KernelWaiting
  private let files: NodeFiles

  /// Runs the task that the words of the command line name; returns the exit status: that of the
  /// command, or one of `NodeStatus`.
  package static func perform(_ commandLine: [UnsafePointer<CChar>]) -> Int32 {
    do throws(NodeFailure) {
      openStandardStreams()
      clinux_close_on_exec_from(3)
      let request = try NodeRequest(commandLine.dropFirst(2).map { String(cString: $0) })
      DescentMark.giveUp()
      unsetenv(Cookie.variable)
      return try NodeTask(request).perform()
    } catch {
      say(error.message)
      return error.isUsage ? NodeStatus.usage : NodeStatus.unusable
    }
  }

  /// Prepares the task. From here on signals are news, so a signal before the start of the command is not lost.
  private init(_ request: NodeRequest) throws(NodeFailure) {
    self.request = request
    do throws(SystemError) {
      waiting = try KernelWaiting()
      files = try NodeFiles.open(in: request.folder)
    } catch {
      throw NodeFailure(error)
    }
  }

  private func perform() throws(NodeFailure) -> Int32 {
    let directory = try openDirectory()
    let task = try files.task(request.task)
    if !task.secrets.isEmpty { closeMemory() }
    let holder = try files.claim(request.task, for: request.job)
    guard holder == request.job else {
      NodeTask.say(belongsToAnother(request.task, holder))
      return NodeStatus.nothingDone
    }
    let place = request.place(began: wallTime())
    guard try begin(place) else {
      NodeTask.say(hasBegun(request.start))
      return NodeStatus.nothingDone
    }
    var file = try aside()
    if let known = try files.resultBefore(request.start) {
      try keep(known, in: &file)
      return known.end.exitStatus
    }
    return try run(task, at: place, in: directory, &file)
  }

  private func run(
    _ task: TaskFile, at place: TaskOrigin, in directory: RunDirectory, _ file: inout AsideFile
  ) throws(NodeFailure) -> Int32 {
    let secrets = Secrets(ofTask: task.secrets)
    let command = task.command.withOutputs(named: try outputsPlace(), in: request.folder)
    directory.removeLog(command.logName)
    let end = try execute(command, of: task, in: directory, secrets)
    switch end.conclusion {
    case .interrupted(let signal):
      if secrets.masker != nil { directory.remove(command.outputsName) }
      try? files.noteStop(of: request.start)
      NodeTask.say(wasInterrupted(request.start, by: signal))
      return 128 + signal
    case .ended(let ended):
      var result = TaskResult(key: command.key, end: ended, place: place)
      result.logSize = end.logSize
      result.events = end.events
      result.stateFailure = end.stateFailure
      result.takeOutputs(of: command, in: directory, hasSecrets: secrets.masker != nil)
      if files.isSuperseded(request.start) {
        NodeTask.say(isSuperseded(request.start))
        return NodeStatus.nothingDone
      }
      // A file that stays for inspection gets the place that it has without Slurm.
      renameat(
        directory.descriptor, command.outputsName, directory.descriptor, task.command.outputsName)
      try keep(result.masked(by: secrets.masker), in: &file)
      return result.end.exitStatus
    }
  }

  /// Runs the command to its end, with the same means as on one machine.
  private func execute(
    _ command: Command, of task: TaskFile, in directory: RunDirectory, _ secrets: Secrets
  ) throws(NodeFailure) -> TaskEnd {
    guard chdir(task.workspace) == 0 else {
      let reason = noWorkspace(task.workspace, on: request.host, errno: errno)
      return TaskEnd(conclusion: .ended(CommandEnd(.notStarted(reason, exitCode: 126))))
    }
    if task.isRepeated || request.start.restart > 0 {
      removeLeftovers(task.replaceable, in: command.directory ?? "")
    }
    var options = RunOptions(runID: task.runID, directory: directory)
    options.secrets = secrets
    options.sharesDirectory = true
    options.jobs.inherited = .ofAnotherMachine()
    do throws(SystemError) {
      let processes = try LocalProcesses(
        options, workspace: task.workspace, wanted: 1...1, jobs: nil, waiting)
      return TaskRun(command, task.limits, processes, waiting).perform()
    } catch {
      throw NodeFailure(error)
    }
  }

  // MARK: Files

  /// The directory of the run, if only we can write there: otherwise another user could forge results.
  private func openDirectory() throws(NodeFailure) -> RunDirectory {
    let number = open(request.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else {
      throw NodeFailure(noFolder(request.folder, on: request.host, errno: errno))
    }
    var status = stat()
    guard fstat(number, &status) == 0, status.st_uid == geteuid(),
      status.st_mode & (S_IWGRP | S_IWOTH) == 0
    else {
      close(number)
      throw NodeFailure(notOnlyOurs(request.folder))
    }
    let mask = umask(0)
    umask(mask)
    return RunDirectory(owning: number, path: request.folder, umask: mask)
  }

  private func outputsPlace() throws(NodeFailure) -> String {
    do throws(SystemError) {
      return try files.outputsPlace(of: request.start)
    } catch {
      throw NodeFailure(error)
    }
  }

  private func begin(_ place: TaskOrigin) throws(NodeFailure) -> Bool {
    do throws(SystemError) {
      return try files.begin(request.start, at: place)
    } catch {
      throw NodeFailure(error)
    }
  }

  /// The file of the result. It is made before the command starts, so that there is room for it when
  /// the disk is full at the end.
  private func aside() throws(NodeFailure) -> AsideFile {
    do throws(SystemError) {
      let file = try AsideFile(for: request.start.name, in: .results, files)
      file.reserve(NodeTask.reserved)
      return file
    } catch {
      throw NodeFailure(error)
    }
  }

  private static let reserved = 4096

  /// The number of attempts to write a result, a second apart: it may have taken hours to compute.
  private static let tries = 30

  private func keep(_ result: TaskResult, in file: inout AsideFile) throws(NodeFailure) {
    var isLast = false
    for count in 1...NodeTask.tries {
      do throws(SystemError) {
        try file.write(result.encoded)
        return try file.take(request.start.name)
      } catch {
        isLast = count == NodeTask.tries
        if isLast { throw NodeFailure(error) }
        if count == 1 { NodeTask.say(error.message) }
      }
      sleep(1)
    }
  }

  private static func say(_ message: String) {
    let line = "oprun: \(messageLine(message))\n"
    _ = Array(line.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// The exit statuses of a task besides those of its command.
enum NodeStatus {
  /// The task belongs to another job, or to a newer start: nothing was done, or the result does not count.
  static let nothingDone: Int32 = 0
  static let usage: Int32 = 2
  /// The directory of the run cannot be used from here: there is no result.
  static let unusable: Int32 = 74
}

extension CommandEnd {
  fileprivate var exitStatus: Int32 {
    switch status {
    case .exited(let status): timedOut && status == 0 ? 124 : status
    case .signalled(let signal): 128 + signal
    case .notStarted(_, let code): code
    case .outputsRefused, .abandoned, .lost: 1
    }
  }
}
