// Reads a pipeline file whose name may refer to anything.

import Foundation
import Pipelines
import Testing

final class PipelineFileTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "oprun-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func failure(_ path: String) -> InputFailure? {
    do throws(InputFailure) {
      _ = try readPipelineFile(path)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a file is read whole`() throws {
    for count in [0, 1, 65536, 1_000_000] {
      let path = folder.appending(path: "a\(count)").path()
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      try Data(bytes).write(to: URL(filePath: path))
      #expect(try readPipelineFile(path) == bytes)
    }
  }

  @Test func `what cannot be a pipeline file is refused without waiting`() throws {
    let path = folder.path()
    #expect(failure(path)?.message == "'\(path)' is a directory, not a file")
    let missing = folder.appending(path: "missing.yml").path()
    #expect(failure(missing)?.message == "cannot open '\(missing)': no such file or directory")
    let fifo = folder.appending(path: "fifo").path()
    #expect(mkfifo(fifo, 0o600) == 0)
    #expect(
      failure(fifo)
        == InputFailure(
          "'\(fifo)' is not a regular file", help: "'-' reads the pipeline from standard input"))
    #expect(failure("/dev/null")?.message == "'/dev/null' is not a regular file")
    #expect(failure("")?.message == "cannot open '': no such file or directory")
  }

  @Test func `more than 64 MiB are refused before they are read`() throws {
    let path = folder.appending(path: "large").path()
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    #expect(truncate(path, 64 << 20 + 1) == 0)
    #expect(failure(path)?.message == "'\(path)' is larger than 64 MiB, which is the limit")
    #expect(truncate(path, 64 << 20) == 0)
    #expect(try readPipelineFile(path).count == 64 << 20)
  }
}
