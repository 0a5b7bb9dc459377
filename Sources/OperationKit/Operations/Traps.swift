// How mistakes of the calling program end it.

/// As `precondition`, but the message is told in release builds too.
func demand(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
