// Messages of a watch that would disturb the display of a run.

struct UnsaidMessages {
  private var messages: [(message: String, help: String?)] = []

  /// Keeps a message, unless it is kept already.
  mutating func add(_ message: String, help: String?) {
    if messages.contains(where: { $0.message == message }) { return }
    messages.append((message, help))
  }

  /// Takes all messages, in order.
  mutating func take() -> [(message: String, help: String?)] {
    defer { messages = [] }
    return messages
  }
}
