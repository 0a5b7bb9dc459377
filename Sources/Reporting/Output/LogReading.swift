// Shows a log to readers who know nothing else of its run.

/// Makes a log harmless to its reader: a terminal, or a CI runner, to which the steps could speak
/// while the run went on. Files and other programs get it as it is.
package struct LogReading {
  /// The filter; nil if nothing is to be changed.
  private var filter: TerminalFilter?

  package init(
    to descriptor: Int32, for runner: CIRunner?, environment: (String) -> String?
  ) {
    let isTerminal = Terminal.isTerminal(descriptor)
    guard isTerminal || runner != nil else { return }
    let isColored = ColorChoice.auto.isOn(isTerminal: isTerminal, environment: environment)
    filter = TerminalFilter(keepsColor: isColored && runner == nil)
  }

  /// Returns the number of bytes written. An incomplete character is left for the next call, unless
  /// this is the last one.
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
