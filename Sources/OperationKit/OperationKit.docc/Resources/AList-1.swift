import OperationKit
import Synchronization

func fetch(_ address: String) -> [UInt8] { Array(address.utf8) }

final class Pictures: Sendable {
  private let queue = OperationQueue()
  private let fetches = Mutex<[String: ResultOperation<[UInt8]>]>([:])

  init() { queue.maxConcurrentOperationCount = 6 }

  func picture(_ address: String) async throws -> [UInt8] {
    let (operation, isNew) = fetches.withLock { fetches in
      if let operation = fetches[address] { return (operation, false) }
      let operation = ResultOperation { fetch(address) }
      fetches[address] = operation
      return (operation, true)
    }
    if isNew { queue.addOperation(operation) }
    await operation.finished()
    return try operation.result
  }
}
