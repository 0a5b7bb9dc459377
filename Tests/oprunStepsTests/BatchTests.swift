// Decisions and reports about many items: which is begun next, the table, the outputs, the
// progress.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct BatchTests {
  @Test func `hosts take turns, and none has more than its share`() {
    var admission = Admission(["a", "a", "a", "a", "b", "a", "c"], perHost: 2, window: 10)
    var begun: [Int] = []
    while let source = admission.next() { begun.append(source) }
    #expect(begun == [0, 4, 6, 1])
    admission.downloaded(1)
    #expect(admission.next() == 2)
    #expect(admission.next() == nil)
    for source in [0, 2] {
      admission.downloaded(source)
      begun.append(admission.next() ?? -1)
    }
    #expect(begun.suffix(2) == [3, 5])
    #expect(!admission.isOver)
    for source in 0..<7 { admission.finished(source) }
    #expect(admission.isOver)
  }

  @Test func `no more than a window of sources is begun and not finished`() {
    var admission = Admission((0..<100).map { "\($0)" }, perHost: 6, window: 3)
    #expect((0..<4).map { _ in admission.next() } == [0, 1, 2, nil])
    admission.downloaded(1)
    #expect(admission.next() == nil)
    admission.finished(1)
    #expect(admission.next() == 3)
  }

  @Test func `a source that pauses holds no place, and gets the next one when it comes back`() {
    var admission = Admission(["a", "a", "a", "a"], perHost: 1, window: 2)
    var begun = (0..<2).map { _ in admission.next() }
    #expect(begun == [0, nil])
    admission.paused(0)
    begun = (0..<2).map { _ in admission.next() }
    #expect(begun == [1, nil])
    // There is no slot now, but it gets the next one.
    var mayGoOn = admission.resume(0)
    #expect(!mayGoOn)
    begun = [admission.downloaded(1)]
    admission.finished(1)
    begun.append(admission.next())
    #expect(begun == [0, nil])
    admission.paused(0)
    for source in 2...3 {
      begun.append(admission.next())
      admission.downloaded(source)
      admission.finished(source)
    }
    #expect(begun == [0, nil, 2, 3])
    #expect(!admission.isOver)
    mayGoOn = admission.resume(0)
    #expect(mayGoOn)
    admission.downloaded(0)
    admission.finished(0)
    #expect(admission.isOver)
  }

  @Test func `a hundred thousand sources of one host are begun in linear time`() {
    var admission = Admission(
      [String](repeating: "a", count: 100_000), perHost: 6, window: 64)
    var order: [Int] = []
    while let source = admission.next() {
      order.append(source)
      admission.downloaded(source)
      admission.finished(source)
    }
    #expect(order == Array(0..<100_000))
    #expect(admission.isOver)
  }

  @Test func `the table of a small batch has every item`() {
    var done = ItemResult(origin: "http://a/x.jpg")
    done.files = [ItemFile(path: "thumbs/x.jpg", byteCount: 20_480, width: 300, height: 200)]
    done.receivedByteCount = 1_234_567
    done.milliseconds = 34
    var failed = ItemResult(origin: "http://a/long-name.jpg")
    failed.error = "answers 404 (not found)"
    let table = BatchTable(items: [done, failed], noun: "image", nanoseconds: 1_500_000_000)
    #expect(
      table.text == """
        thumbs/x.jpg            20 kB  34ms  300×200
        http://a/long-name.jpg  failed: answers 404 (not found)
        2 images, 1 failed, 1.2 MB received in 1.5s

        """)
  }

  @Test(arguments: ["::error::x", "##vso[x]", "--- x", "+++ x", "^^^ +++", "%0A"])
  func `no line of a table begins with what a CI server takes for a command`(origin: String) {
    var item = ItemResult(origin: origin)
    item.error = "cannot open it"
    let table = BatchTable(items: [item], noun: "image", nanoseconds: 0)
    #expect(table.text == "'\(origin)'  failed: cannot open it\n1 image, 1 failed in 0ms\n")
  }

  @Test func `the table of a large one has those that failed`() {
    var items = (0..<1000).map { ItemResult(origin: "http://a/\($0)") }
    for index in 0..<30 { items[index * 7].error = "answers 500" }
    let lines = BatchTable(items: items, noun: "image", nanoseconds: 0).text
      .split(separator: "\n")
    #expect(lines.count == 22)
    #expect(lines[1] == "http://a/7    failed: answers 500")
    #expect(lines[20...] == ["… and 10 more", "1000 images, 30 failed in 0ms"])
  }

  @Test func `the bar is no wider than the terminal`() {
    let words = "37/1000 images, 2 failed, 41 MB/s"
    #expect(
      BatchProgress.line(37, of: 1000, words, columns: 80)
        == "[                    ] 37/1000 images, 2 failed, 41 MB/s")
    #expect(BatchProgress.line(37, of: 1000, words, columns: 40) == words)
    #expect(BatchProgress.line(37, of: 1000, words, columns: 20) == "37/1000 images, 2 f")
    #expect(BatchProgress.line(1000, of: 1000, words, columns: nil).hasPrefix("[#########"))
  }

  @Test func `outputs that oprun would refuse are left out`() {
    var outputs = StepOutputs()
    outputs.add("manifest", json: "\"m\"")
    outputs.add("files", json: StepOutputs.list([String](repeating: "x", count: 400_000)))
    outputs.add("failed", json: "[]")
    #expect(outputs.leftOut == ["files"])
  }

  @Test func `progress is one line`() {
    var state = BatchState(total: 1000, noun: "image")
    (state.done, state.failed) = (37, 2)
    #expect(
      BatchProgress.text(state, bytesPerSecond: 41_000_000)
        == "37/1000 images, 2 failed, 41 MB/s")
    #expect(BatchProgress.bar(1, of: 2) == "[##########          ]")
  }

  @Test func `bytes and times are rounded to what people compare`() {
    #expect(
      [0, 999, 1000, 1049, 1500, 99_949, 999_499, 999_500, 1_000_000, 41_000_000].map(shownBytes)
        == [
          "0 B", "999 B", "1.0 kB", "1.0 kB", "1.5 kB", "100 kB", "999 kB", "1.0 MB", "1.0 MB",
          "41 MB",
        ])
    #expect(
      [500_000, 999_000_000, 1_000_000_000, 1_550_000_000, 65_000_000_000].map(shownDuration)
        == ["0ms", "999ms", "1s", "1.5s", "1m05s"])
  }
}
