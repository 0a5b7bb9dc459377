// What is shown of a log by those who know nothing of its run but that.

/// Makes a log harmless to whoever reads it: a terminal, or a CI runner, for which the run has said already what its
/// steps wanted to say. Files and other programs get it as it is.
package struct LogReading {
  /// Nil if nothing is to be changed.
  private var filter: TerminalFilter?

  package init(
    to descriptor: Int32, for runner: CIRunner?, environment: (String) -> String?
  ) {
    let isTerminal = Terminal.isTerminal(descriptor)
    guard isTerminal || runner != nil else { return }
    let isColored = ColorChoice.auto.isOn(isTerminal: isTerminal, environment: environment)
    filter = TerminalFilter(keepsColor: isColored && runner == nil)
  }

  /// Returns how many bytes were written. What is no whole character is left for the next call, unless this is the
  /// last one.
  package mutating func write(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, to sink: ByteSink
  ) -> Int {
    guard filter != nil else {
      sink.write(bytes)
      return bytes.count
    }
    filter?.resumeColors(to: sink)
    defer { filter?.suspendColors(to: sink) }
    return filter?.write(bytes, isLast: isLast, to: sink) ?? 0
  }
}
