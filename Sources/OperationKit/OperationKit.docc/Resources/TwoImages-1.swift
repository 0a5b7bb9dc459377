import OperationKit

struct Image: Sendable {
  var name: String
}

func download(_ name: String) -> Image { Image(name: name) }

func showBoth() {
  let queue = OperationQueue()
  let left = ResultOperation { download("left.jpg") }
  let right = ResultOperation { download("right.jpg") }
  queue.addOperations([left, right], waitUntilFinished: false)
}
