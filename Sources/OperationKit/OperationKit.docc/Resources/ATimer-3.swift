import Dispatch
import OperationKit

final class Timer: AsyncOperation, @unchecked Sendable {  // adds nothing that changes
  override func main() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) {
      self.finish()
    }
  }
}

func ring() {
  let timer = Timer()
  let bell = BlockOperation { print("ring") }
  bell.addDependency(timer)
  let queue = OperationQueue()
  queue.addOperations([timer, bell], waitUntilFinished: true)
}
