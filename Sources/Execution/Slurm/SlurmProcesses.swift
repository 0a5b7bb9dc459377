// Calls commands of Slurm with processes of oprun, one for each lane.

import Diagnostics
import Glibc
import Plans
import Scheduling

final class SlurmProcesses: SlurmCaller {
  /// Numbers of ready descriptors from here on are those of lanes; pipes of commands have smaller ones.
  static let firstNumber = 1 << 30

  private let waiting: any Waiting
  private let environment: [String]
  private var workers: [SlurmCall.Lane: SlurmWorker] = [:]
  private var queues: [SlurmCall.Lane: [(number: Int, call: SlurmCall)]] = [:]
  private var running: [SlurmCall.Lane: Int] = [:]
  private var answers: [(number: Int, answer: SlurmAnswer)] = []

  init(_ waiting: any Waiting, environment: [String]) {
    self.waiting = waiting
    self.environment = environment
  }

  func begin(_ call: SlurmCall, number: Int, at now: Nanoseconds) {
    queues[call.lane, default: []].append((number, call))
    startNext(in: call.lane)
  }

  private func startNext(in lane: SlurmCall.Lane) {
    guard running[lane] == nil, let next = queues[lane]?.first else { return }
    queues[lane]?.removeFirst()
    do throws(SystemError) {
      let worker = try worker(of: lane)
      guard worker.ask(next.call) else {
        drop(lane)
        return answers.append((next.number, SlurmAnswer(exitStatus: nil)))
      }
      running[lane] = next.number
    } catch {
      answers.append((next.number, SlurmAnswer(exitStatus: nil, refusal: refusalMessage(error))))
    }
  }

  private func worker(of lane: SlurmCall.Lane) throws(SystemError) -> SlurmWorker {
    if let worker = workers[lane] { return worker }
    let worker = try SlurmWorker.start(
      lane == .look ? environment + [SlurmCommands.lookVariable] : environment)
    waiting.ownProcesses.insert(worker.processID)
    try waiting.add(worker.socket, for: .executor, number: Self.firstNumber + lane.rawValue)
    workers[lane] = worker
    return worker
  }

  func ready(_ number: Int) {
    guard let lane = SlurmCall.Lane(rawValue: number - Self.firstNumber),
      let answer = workers[lane]?.take()
    else { return }
    if answer.exitStatus == nil, !answer.errors.isEmpty { drop(lane) }
    if let call = running.removeValue(forKey: lane) { answers.append((call, answer)) }
    startNext(in: lane)
  }

  func takeAnswers(at now: Nanoseconds) -> [(number: Int, answer: SlurmAnswer)] {
    defer { answers.removeAll() }
    return answers
  }

  var deadline: Nanoseconds? { answers.isEmpty ? nil : 0 }

  private func drop(_ lane: SlurmCall.Lane) {
    guard let worker = workers.removeValue(forKey: lane) else { return }
    waiting.remove(worker.socket)
  }

  func close() {
    for lane in SlurmCall.Lane.allCases { drop(lane) }
    running = [:]
    queues = [:]
  }
}
