// The display of a run: where and how.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles

struct RunScreen {
  let screen: Screen
  let mode: OutputMode

  init(
    _ invocation: Invocation, _ directory: RunDirectory, _ secrets: Secrets,
    resume: @escaping () -> String?
  ) {
    var options = ScreenOptions()
    options.color = invocation.choice(Options.color, default: .auto)
    options.usesASCII = invocation.isOn(Options.ascii)
    options.unfoldsInstances = invocation.isOn(Options.verbose)
    options.masker = secrets.masker
    options.backlogFolder = directory
    options.resumeCommand = resume
    let isForEvents = invocation.text(Options.events).map(EventTarget.isStandardOutput) ?? false
    let isOutputTaken =
      isForEvents || invocation.tracedStep != nil
      || invocation.text(Options.output) == OutputMode.json.rawValue
    let surroundings = CISurroundings(invocation, isOutputTaken: isOutputTaken)
    options.ci = surroundings.options
    surroundings.writeMasks(secrets)
    mode = Self.mode(invocation, isForEvents: isForEvents, surroundings)
    options.isLive = mode == .live
    screen = Screen(
      output: invocation.tracedStep == nil ? surroundings.output : STDERR_FILENO,
      messages: surroundings.messages, options: options, environment: environmentValue)
  }

  /// The mode that was chosen, or the one that suits the reader.
  private static func mode(
    _ invocation: Invocation, isForEvents: Bool, _ surroundings: CISurroundings
  ) -> OutputMode {
    if isForEvents { return invocation.choice(Options.output, default: .quiet) }
    let usual =
      surroundings.options == nil
      ? OutputMode.usual(
        output: surroundings.output, messages: surroundings.messages,
        environment: environmentValue)
      : .grouped
    return invocation.choice(Options.output, default: usual)
  }
}
