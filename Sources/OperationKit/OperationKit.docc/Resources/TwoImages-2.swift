import OperationKit

struct Image: Sendable {
  var name: String
}

func download(_ name: String) -> Image { Image(name: name) }

func showBoth() {
  let queue = OperationQueue()
  let left = ResultOperation { download("left.jpg") }
  let right = ResultOperation { download("right.jpg") }
  let both = ResultOperation {
    let (left, right) = (try left.result, try right.result)
    return Image(name: "\(left.name) beside \(right.name)")
  }
  both.addDependency(left)
  both.addDependency(right)
  queue.addOperations([both, left, right], waitUntilFinished: false)
}
