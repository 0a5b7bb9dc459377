// Ends the calling program at a mistake of its own.

/// Like `precondition`, but the message is printed in release builds too: what is wrong is the caller's program.
func demand(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
