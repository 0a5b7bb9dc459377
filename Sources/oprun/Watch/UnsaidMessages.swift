// What a watch has to say while the display of a run would be disturbed.

struct UnsaidMessages {
  private var messages: [(message: String, help: String?)] = []

  /// Keeps a message; one that is kept already is not said twice.
  mutating func add(_ message: String, help: String?) {
    if messages.contains(where: { $0.message == message }) { return }
    messages.append((message, help))
  }

  /// All of them, in order.
  mutating func take() -> [(message: String, help: String?)] {
    defer { messages = [] }
    return messages
  }
}
