// `oprun-image compose`.

import Diagnostics

extension Program {
  func compose(_ inputs: Inputs) throws(UsageError) -> Int32 {
    let step = try ComposeStep(inputs)
    let workers: Workers
    do throws(SystemError) {
      workers = try Workers.start(step.reading, usesHEIF: step.usesHEIF)
    } catch {
      return fail(error.message, ExitStatus.internalError)
    }
    defer { workers.stop() }
    let composition = Composition(
      files: step.files, limits: step.limits, reading: step.reading,
      processing: ImageProcessing(workers))
    do throws(CompositionFault) {
      let written = try composition.write(step.result, to: step.target, laidOut: step.layout)
      output.write("\(written.path) (\(written.facts.size.words))\n")
      return ExitStatus.success
    } catch {
      switch error {
      case .noRoom: throw .noRoom(step.files.count, inputs.step)
      case .whole(let fault): return fail("\(quoted(step.target)) \(fault.message)")
      case .images(let faults):
        for (file, fault) in faults { _ = fail("\(quoted(file)) \(fault.message)") }
        return ExitStatus.failure
      }
    }
  }

  private func fail(_ message: String, _ status: Int32 = ExitStatus.failure) -> Int32 {
    errors.write("oprun-image: \(message)\n")
    return status
  }
}
