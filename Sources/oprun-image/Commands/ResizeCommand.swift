// `oprun-image resize`.

import Diagnostics
import OperationKit

extension Program {
  func resize(_ inputs: Inputs) throws(UsageError) -> Int32 {
    let step = try ResizeStep(inputs)
    do throws(SystemError) {
      let workers = try Workers.start(step.settings.reading, usesHEIF: step.settings.usesHEIF)
      defer { workers.stop() }
      let processing = ImageProcessing(workers)
      let operations = step.operations(processing)
      processing.queue.addOperations(operations, waitUntilFinished: true)
      return report(zip(step.files, operations.map(\.result)))
    } catch {
      errors.write("oprun-image: \(error.message)\n")
      return ExitStatus.internalError
    }
  }

  private func report(
    _ results: some Sequence<(String, Result<[ImageResult], ImageFault>)>
  ) -> Int32 {
    var status = ExitStatus.success
    for (file, result) in results {
      switch result {
      case .success(let results):
        for result in results {
          output.write("\(file) -> \(result.path) (\(result.facts.size.words))\n")
        }
      case .failure(let fault):
        errors.write("oprun-image: \(quoted(file)) \(fault.message)\n")
        status = ExitStatus.failure
      }
    }
    return status
  }
}
