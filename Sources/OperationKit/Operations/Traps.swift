// Ends the calling program at a mistake of its own.

/// Like `precondition`, but the message is printed in release builds too.
func demand(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
