// Runs the examples of the documentation, and checks that they are the same.

import Dispatch
import Foundation
import Synchronization
import Testing

import class OperationKit.AsyncOperation
import class OperationKit.BlockOperation
import class OperationKit.Operation
import class OperationKit.OperationBatch
import class OperationKit.OperationQueue
import class OperationKit.ResultOperation
import class OperationKit.RetryOperation
import protocol OperationKit.OperationProtocol

/// What the examples work on.
private final class Images: Sendable {
  private struct Missing: Error {}
  let journal = Journal()
  func download(_ name: String) { journal.note("download \(name)") }
  func fetch(_ name: String) throws {
    if name == "b.jpg" { throw Missing() }
    download(name)
  }
  func resize(_ name: String, to width: Int) { journal.note("resize \(name) to \(width)") }
  func upload(_ name: String, _ attempt: Int) throws {
    if attempt < 2 { throw Missing() }
    journal.note("upload \(name) \(attempt)")
  }
}

private final class Balance: Sendable {
  private let sum = Atomic<Int>(0)
  func add(_ amount: Int) { sum.add(amount, ordering: .relaxed) }
  var value: Int { sum.load(ordering: .relaxed) }
}

@Suite struct ExampleTests {
  private let images = Images()
  private let seen = Journal()
  private let balance = Balance()
  private let queue = OperationQueue()
  private let names = ["a.jpg", "b.jpg", "c.jpg"]

  @Test func overview() {
    let queue = OperationQueue()
    let download = BlockOperation { images.download("a.jpg") }
    let resize = BlockOperation { images.resize("a.jpg", to: 300) }
    resize.addDependency(download)
    queue.addOperations([download, resize], waitUntilFinished: true)
    #expect(images.journal.all == ["download a.jpg", "resize a.jpg to 300"])
  }

  @Test func tasks() async throws {
    @Sendable func compute() throws -> Int { 42 }
    let answer = ResultOperation { try compute() }
    queue.addOperation(answer)
    let value = try await answer.result()
    #expect(value == 42)
    let fetch = queue.addOperation {
      try await Task.sleep(for: .seconds(60))
    }
    fetch.cancel()
    queue.progress.totalUnitCount = 2
    for _ in 1...2 { queue.addOperation { seen.note("part") } }
    for await fraction in queue.progress.fractions where fraction >= 1 {
      seen.note("done")
    }
    await fetch.finished()
    for await state in answer.states {
      seen.note("\(state)")
    }
    #expect(seen.all.contains("done") && seen.all.contains("finished"))
  }

  @Test func `download, then resize`() {
    let downloads = OperationQueue()
    downloads.maxConcurrentOperationCount = 6
    let resizes = OperationQueue()
    for name in ["a.jpg", "b.jpg", "c.jpg"] {
      let download = BlockOperation { try images.fetch(name) }
      let resize = BlockOperation { images.resize(name, to: 300) }
      resize.dependencyPolicy = .succeeded
      resize.addDependency(download)
      downloads.addOperation(download)
      resizes.addOperation(resize)
    }
    resizes.waitUntilAllOperationsAreFinished()
    #expect(
      images.journal.all.sorted() == [
        "download a.jpg", "download c.jpg", "resize a.jpg to 300", "resize c.jpg to 300",
      ])
  }

  @Test func `a batch with progress`() {
    let batch = OperationBatch(
      names.map { name in BlockOperation { images.resize(name, to: 300) } },
      progress: { finished, total in seen.note("\(finished)/\(total)") },
      completion: { operations in seen.note("\(operations.count) images") })
    queue.addBatch(batch)
    batch.completion.waitUntilFinished()
    // Another example, of which nothing is expected.
    queue.progress.totalUnitCount = Int64(names.count)
    #expect(seen.all == ["1/3", "2/3", "3/3", "3 images"])
  }

  @Test func `a serial queue`() {
    let account = OperationQueue()
    account.maxConcurrentOperationCount = 1
    for amount in 1...10 {
      account.addOperation { balance.add(amount) }
    }
    account.addBarrierBlock { seen.note("done") }
    account.waitUntilAllOperationsAreFinished()
    #expect(balance.value == 55 && seen.all == ["done"])
  }

  @Test func `back pressure`() {
    let numbers = (0..<10_000).lazy.map { number in
      BlockOperation { balance.add(number) } as Operation
    }
    queue.addOperations(from: numbers, keeping: 1000)
    queue.waitUntilAllOperationsAreFinished()
    #expect(balance.value == 49_995_000)
  }

  @Test func `callbacks, exclusion and attempts`() {
    final class Fetch: AsyncOperation, @unchecked Sendable {  // it has no mutable state
      override func main() {
        DispatchQueue.global().async { self.finish() }
      }
    }
    queue.addOperations([Fetch()], waitUntilFinished: true)
    let migrate = BlockOperation { seen.note("migrate") }
    migrate.addCondition(.exclusive("database"))
    queue.addOperation(migrate)
    let upload = RetryOperation(limit: 3, delay: { .milliseconds(10 * $0) }) { attempt in
      BlockOperation { try images.upload("a.jpg", attempt) }
    }
    queue.addOperation(upload)
    upload.waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
    #expect(seen.all == ["migrate"] && images.journal.all == ["upload a.jpg 2"])
  }

  @Test(arguments: ["OperationKit", "FromFoundation", "Recipes"])
  func `the documentation shows what is run here`(_ article: String) throws {
    let tests = URL(filePath: #filePath)
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = "Sources/OperationKit/OperationKit.docc/\(article).md"
    let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    let source = lines(try String(contentsOf: tests, encoding: .utf8))
    for block in text.components(separatedBy: "```swift\n").dropFirst() {
      let code = lines(block.components(separatedBy: "```")[0])
      #expect(source.contains(code), "not run: \(code)")
    }
  }

  /// Without indentation, which differs.
  private func lines(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .joined(separator: "\n")
  }
}
