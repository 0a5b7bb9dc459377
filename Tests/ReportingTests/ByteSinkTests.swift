import Foundation
import Testing

@testable import Reporting

@Suite struct `Byte sink` {
  private func write(_ text: String, times: Int, to sink: ByteSink) {
    for _ in 0..<times { sink.write(text) }
    sink.flush()
  }

  @Test func `everything arrives in order, whatever the size of the buffer`() throws {
    let file = try TemporaryFile()
    let sink = ByteSink(descriptor: file.descriptor, capacity: 16)
    for number in 0..<100 {
      sink.write(decimal: number)
      sink.write(number % 7 == 0 ? "a text that is longer than the buffer" : ",")
    }
    sink.flush()
    let expected = (0..<100).map {
      "\($0)" + ($0 % 7 == 0 ? "a text that is longer than the buffer" : ",")
    }.joined()
    #expect(file.text == expected)
    #expect(sink.position == expected.utf8.count)
  }

  @Test func `text is taken from memory once, whether the buffer held it or not`() {
    let sink = ByteSink.intoMemory(capacity: 16)
    for text in ["short", "", "a text that is longer than the buffer", "0123456789abcdef", "end"] {
      sink.write(text)
      #expect(sink.takeText() == text)
    }
    #expect(sink.takeText().isEmpty)
  }

  @Test func `a full pipe that does not block is waited for`() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
    let reader = DispatchQueue(label: "reader")
    let count = 300_000
    nonisolated(unsafe) var received = Data()
    reader.async { received = pipe.fileHandleForReading.readDataToEndOfFile() }
    let sink = ByteSink(descriptor: descriptor, capacity: 100)
    write("0123456789", times: count / 10, to: sink)
    try pipe.fileHandleForWriting.close()
    reader.sync {}
    #expect(!sink.hasFailed)
    #expect(received.count == count)
  }

  @Test func `a device that is full makes it silent`() throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
    let sink = ByteSink(descriptor: handle.fileDescriptor)
    sink.write("lost")
    #expect(!sink.hasFailed)
    sink.flush()
    #expect(sink.hasFailed)
    write("lost too", times: 100_000, to: sink)
  }
}
