// Calls commands of Slurm with processes of oprun, one for each channel.

import Diagnostics
import Glibc
import Plans
import Scheduling

final class SlurmProcesses: SlurmCaller {
  /// Numbers of ready descriptors from here on are those of channels; pipes of commands have smaller ones.
  static let firstNumber = 1 << 30

  private let waiting: any Waiting
  private let environment: [String]
  /// The time for which the end of a run waits for calls that cancel jobs.
  private let lastWait: Nanoseconds
  private var workers: [SlurmCall.Channel: SlurmWorker] = [:]
  private var queues: [SlurmCall.Channel: [(number: Int, call: SlurmCall)]] = [:]
  private var running: [SlurmCall.Channel: Int] = [:]
  private var answers: [(number: Int, answer: SlurmAnswer)] = []

  init(_ waiting: any Waiting, environment: [String], lastWait: Nanoseconds = 5_000_000_000) {
    self.waiting = waiting
    self.lastWait = lastWait
    self.environment = environment
  }

  func begin(_ call: SlurmCall, number: Int, at now: Nanoseconds) {
    queues[call.channel, default: []].append((number, call))
    startNext(in: call.channel)
  }

  private func startNext(in channel: SlurmCall.Channel) {
    guard running[channel] == nil, let next = queues[channel]?.first else { return }
    queues[channel]?.removeFirst()
    do throws(SystemError) {
      let worker = try worker(of: channel)
      guard worker.ask(next.call) else {
        drop(channel)
        return answers.append((next.number, SlurmAnswer(exitStatus: nil)))
      }
      running[channel] = next.number
    } catch {
      answers.append((next.number, SlurmAnswer(exitStatus: nil, refusal: refusalMessage(error))))
    }
  }

  private func worker(of channel: SlurmCall.Channel) throws(SystemError) -> SlurmWorker {
    if let worker = workers[channel] { return worker }
    let worker = try SlurmWorker.start(
      channel == .look ? environment + [SlurmCommands.lookVariable] : environment)
    waiting.ownProcesses.insert(worker.processID)
    try waiting.add(worker.socket, for: .executor, number: Self.firstNumber + channel.rawValue)
    workers[channel] = worker
    return worker
  }

  func ready(_ number: Int) {
    guard let channel = SlurmCall.Channel(rawValue: number - Self.firstNumber),
      let answer = workers[channel]?.take()
    else { return }
    if answer.exitStatus == nil, !answer.errors.isEmpty { drop(channel) }
    if let call = running.removeValue(forKey: channel) { answers.append((call, answer)) }
    startNext(in: channel)
  }

  func takeAnswers(at now: Nanoseconds) -> [(number: Int, answer: SlurmAnswer)] {
    defer { answers.removeAll() }
    return answers
  }

  var deadline: Nanoseconds? { answers.isEmpty ? nil : 0 }

  private func drop(_ channel: SlurmCall.Channel) {
    guard let worker = workers.removeValue(forKey: channel) else { return }
    waiting.remove(worker.socket)
  }

  func close(after last: SlurmCall?) {
    let deadline = monotonicTime() + lastWait
    queues = [:]
    awaitCancellation(until: deadline)
    if let last, running[.cancel] == nil {
      begin(last, number: 0, at: 0)
      awaitCancellation(until: deadline)
    }
    for worker in workers.values { worker.dismiss() }
    for channel in SlurmCall.Channel.allCases { drop(channel) }
    running = [:]
    answers = []
  }

  private func awaitCancellation(until deadline: Int64) {
    while running[.cancel] != nil, let worker = workers[.cancel], monotonicTime() < deadline {
      worker.wait(until: deadline)
      ready(Self.firstNumber + SlurmCall.Channel.cancel.rawValue)
    }
  }
}
