import Dispatch
import OperationKit

final class Timer: AsyncOperation, @unchecked Sendable {  // adds nothing that changes
  override func main() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) {
      self.finish()
    }
  }
}
