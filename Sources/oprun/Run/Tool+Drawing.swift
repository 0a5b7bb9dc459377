// How listings and drawings are written to the terminal, or the log, that they go to.

import Diagnostics
import Glibc
import Reporting

extension Tool {
  func isColored(_ descriptor: Int32, _ choice: ColorChoice) -> Bool {
    choice.isOn(isTerminal: Terminal.isTerminal(descriptor), environment: environmentValue)
  }

  /// The terminal that a descriptor leads to, for messages about files.
  func terminal(_ descriptor: Int32, _ choice: ColorChoice = .auto) -> DiagnosticTerminal {
    DiagnosticTerminal(
      isColored: isColored(descriptor, choice), columns: Terminal.width(of: descriptor))
  }

  /// Lines of a listing are not wrapped by a terminal.
  func clipOutput() {
    output.lineWidth = Terminal.width(of: STDOUT_FILENO)
    shareOutputWithRunner()
  }

  /// What people read in the log of a CI job holds no commands.
  func shareOutputWithRunner() {
    if let runner = CIRunner.detected(environmentValue) { output.makeHarmless(to: runner) }
  }

  /// Where a listing goes on in further lines if a terminal is narrow.
  var listingScreen: Screen {
    shareOutputWithRunner()
    return Screen(listingTo: output, environment: environmentValue)
  }

  func drawingOptions(_ invocation: Invocation) -> DrawingOptions {
    var options = DrawingOptions()
    options.usesASCII = invocation.isOn(Options.ascii)
    output.spellsInASCII = options.usesASCII
    options.isVerbose = invocation.isOn(Options.verbose)
    options.isColored = isColored(
      STDOUT_FILENO, invocation.choice(Options.color, default: ColorChoice.auto))
    options.columns = Terminal.width(of: STDOUT_FILENO) ?? options.columns
    return options
  }
}
