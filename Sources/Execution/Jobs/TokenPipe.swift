// The pipe of a jobserver: tokens are bytes in it. Nothing here waits.

import CLinux
import Diagnostics
import Glibc

/// The ends of the pipe that oprun itself uses. They belong to open files of their own, so that
/// their flags do not affect other readers and writers, nor the other way round.
struct TokenPipe: ~Copyable {
  private let source: Descriptor
  private let sink: Descriptor

  /// Opens the pipe behind two paths, which may be the same, again.
  init(_ readPath: String, _ writePath: String) throws(SystemError) {
    // A named pipe that is opened for both never waits for another end, nor does it end.
    let mode = readPath == writePath ? O_RDWR : O_RDONLY
    let opened = try TokenPipe.open(readPath, mode | O_NONBLOCK)
    self.init(source: opened, sink: try TokenPipe.open(writePath, O_WRONLY | O_NONBLOCK))
  }

  private init(source: consuming Descriptor, sink: consuming Descriptor) {
    self.source = source
    self.sink = sink
  }

  static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Descriptor {
    let action = "cannot open the jobserver '\(path)'"
    let opened = try Descriptor.open(path, flags | O_NOCTTY).get(action)
    var status = stat()
    guard fstat(opened.number, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      throw SystemError(action, errno: ESPIPE)
    }
    return opened
  }

  /// The descriptor that is readable when there may be a token.
  var number: Int32 { source.number }

  /// A token; nil if there is none at present.
  func take() -> UInt8? {
    var byte: UInt8 = 0
    return read(source.number, &byte, 1) == 1 ? byte : nil
  }

  /// Puts tokens in. Returns the number for which there was room.
  func put(_ tokens: [UInt8]) -> Int { max(0, write(sink.number, tokens, tokens.count)) }

  /// Removes tokens until there are no more than this.
  func drain(to limit: Int) {
    var excess = count - limit
    var buffer = [UInt8](repeating: 0, count: 4096)
    while excess > 0 {
      let taken = read(source.number, &buffer, min(excess, buffer.count))
      guard taken > 0 else { return }
      excess -= taken
    }
  }

  /// The number of tokens in the pipe.
  private var count: Int {
    var count: Int32 = 0
    return ioctl(source.number, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
  }
}
