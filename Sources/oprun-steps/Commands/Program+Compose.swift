// `compose`: combines several images into one.

import BuiltinSteps
import Diagnostics

extension Program {
  func compose(_ inputs: Inputs) throws(UsageFailure) -> Int32 {
    let started = monotonicTime()
    let step = try ComposeStep(inputs)
    guard let workers = startWorkers(step.reading, modules: step.modules) else {
      return ExitStatus.internalError
    }
    defer { workers.stop() }
    workers.whenTroubled { say($0) }
    let composition = Composition(
      files: step.files, limits: step.limits, reading: step.reading,
      processing: ImageProcessing(workers, fileCount: 2))
    do throws(CompositionFailure) {
      let written = try composition.write(step.result, to: step.target, laidOut: step.layout)
      output.write(
        "\(written.path)  \(shownBytes(written.facts.bytes))  \(written.facts.size.words)"
          + "  from \(step.files.count) image\(step.files.count == 1 ? "" : "s")"
          + " in \(shownDuration(monotonicTime() - started))\n")
      return try publish(written)
    } catch {
      return try tell(error, step, inputs)
    }
  }

  private func tell(
    _ fault: CompositionFailure, _ step: ComposeStep, _ inputs: Inputs
  ) throws(UsageFailure) -> Int32 {
    switch fault {
    case .noRoom: throw .noRoom(step.files.count, inputs.step)
    case .whole(let fault): say("\(quoted(step.target)): \(fault.message)")
    case .images(let faults):
      for (file, fault) in faults { say("\(quoted(ByteText.shown(file))): \(fault.message)") }
    }
    return ExitStatus.failure
  }

  private func publish(_ written: ImageResult) throws(CompositionFailure) -> Int32 {
    var outputs = StepOutputs()
    outputs.add("files", json: StepOutputs.list([written.path]))
    do throws(SystemError) { try outputs.publish() } catch { throw .whole(.system(error)) }
    return ExitStatus.success
  }
}
