// Job control: a shell stops oprun (Ctrl-Z) and lets it go on. Commands have sessions of their own,
// so they go on; nothing new starts meanwhile.

import Glibc

extension RunLoop {
  func obey(_ signal: Int32) {
    if signal == SIGTSTP {
      observers.suspend()
      waiting.obey(signal)
    }
    // While oprun was stopped, others had the terminal.
    observers.resume()
  }
}
