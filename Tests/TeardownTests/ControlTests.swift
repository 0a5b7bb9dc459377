// Real clients of a real run: those that ask properly, those that ask for nothing good, and those that die.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Those who ask a run something` {
  /// A step that goes on until the file `over` is there.
  private static let waiting =
    "steps:\n  - {id: long, run: 'until test -e over; do sleep 0.02; done'}\n"

  @Test func `are answered, whatever others do meanwhile`() throws {
    let run = try OprunProcess(
      Self.waiting
        + (0..<3000).map { "  - {id: s\($0), run: 'true', depends_on: [long]}\n" }.joined(),
      arguments: "--output quiet -j 2")
    let control = try #require(ControlSocket(of: run))
    #expect(control.mode == 0o600)
    // Garbage, and a request of another version.
    #expect(try control.ask("\u{1}\u{2}nonsense\n").contains("\"ok\":false"))
    #expect(
      try control.ask("{\"protocol\":2,\"request\":\"status\"}\n").contains(
        "which understands version 1 of requests, not version 2"))
    #expect(try control.ask("{\"protocol\":1,\"request\":\"dance\"}\n").contains("'pause'"))
    #expect(try control.ask("{\"protocol\":1,\"request\":\"retry\"}\n").contains("wants a step"))
    // A line without end.
    let endless = try control.connect()
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
    var sent = 0
    while sent < 1 << 30 {
      let count = send(endless, piece, piece.count, Int32(MSG_NOSIGNAL))
      if count <= 0 { break }
      sent += count
    }
    #expect(sent < 1 << 24)
    close(endless)
    // Those who send half a line and stay, more than are let in.
    let silent = try (0..<40).map { _ in
      let socket = try control.connect()
      _ = send(socket, "{\"prot", 7, Int32(MSG_NOSIGNAL))
      return socket
    }
    // One who goes in the middle of the answer.
    let hasty = try control.connect()
    let whole = "{\"protocol\":1,\"request\":\"status\",\"all\":true}\n"
    _ = send(hasty, whole, whole.utf8.count, Int32(MSG_NOSIGNAL))
    close(hasty)
    #expect(
      try run.ask("status --json", until: 120).contains("{\"step\":\"s2999\",\"number\":3000"))
    silent.forEach { close($0) }
    // One who follows, and takes nothing.
    let slow = try control.connect()
    let follow = "{\"protocol\":1,\"request\":\"status\",\"all\":true,\"follow\":true}\n"
    _ = send(slow, follow, follow.utf8.count, Int32(MSG_NOSIGNAL))
    #expect(try run.ask("status").contains("[0/3001] 1 running, 3000 waiting"))
    run.touch("over")
    #expect(run.wait() == 0, "\(run.standardError)")
    #expect(!FileManager.default.fileExists(atPath: control.path))
    close(slow)
  }

  @Test func `have a place, however many follow the run`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    let control = try #require(ControlSocket(of: run))
    let follow = "{\"protocol\":1,\"request\":\"status\",\"follow\":true}\n"
    let followers = try (0..<12).map { _ in
      let socket = try control.connect()
      _ = send(socket, follow, follow.utf8.count, Int32(MSG_NOSIGNAL))
      return socket
    }
    for socket in followers {
      var byte: UInt8 = 0
      #expect(recv(socket, &byte, 1, 0) == 1)
    }
    #expect(
      try control.ask(follow).contains("\"error\":\"too many programs already follow the run\""))
    #expect(
      try control.ask("{\"protocol\":1,\"request\":\"cancel\",\"step\":[\"long\"]}\n")
        .contains("\"error\":\"'step' wants a string, found a list\""))
    #expect(try run.ask("cancel") == "the run is being cancelled\n0\n")
    #expect(run.wait() == 143)
    followers.forEach { close($0) }
  }

  @Test func `are told when the run that they follow ends, and may be killed before`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    _ = try #require(ControlSocket(of: run))
    let killed = try run.start("status --follow --json >killed.txt")
    let follower = try run.start("status --follow --json >followed.txt")
    #expect(
      eventually {
        ["followed.txt", "killed.txt"].allSatisfy { run.content(of: $0).contains("complete") }
      })
    kill(-killed.processID, SIGKILL)
    _ = killed.wait()
    run.touch("over")
    #expect(run.wait() == 0)
    #expect(follower.wait() == 0)
    let lines = run.content(of: "followed.txt").split(separator: "\n")
    #expect(lines.last == "{\"finished\":true,\"exit_status\":0}")
    #expect(lines.contains { $0.contains("\"step\":\"long\"") && $0.contains("succeeded") })
  }

  /// As `nc -N` and `socat` do at the end of their input.
  @Test func `and follow it may close their own side`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    let control = try #require(ControlSocket(of: run))
    let socket = try control.connect()
    let request = "{\"protocol\":1,\"request\":\"status\",\"follow\":true}\n"
    _ = send(socket, request, request.utf8.count, Int32(MSG_NOSIGNAL))
    shutdown(socket, Int32(SHUT_WR))
    var told = ""
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(socket, &bytes, bytes.count, 0)
      if count <= 0 { break }
      told += String(decoding: bytes[..<count], as: UTF8.self)
      if told.contains("\"complete\"") { run.touch("over") }
    }
    close(socket)
    run.touch("over")
    #expect(run.wait() == 0)
    #expect(told.hasSuffix("{\"finished\":true,\"exit_status\":0}\n"), "\(told)")
  }

  @Test func `are told all that has become of a run before they are told that it is over`() throws {
    // A run waits two seconds for those who follow it, and one may need longer on a slow machine.
    let isTold = try once {
      let run = try OprunProcess(
        "steps:\n  - {id: long, run: 'until test -e over; do sleep 0.02; done; exit 1'}\n"
          + (0..<5000).map { "  - {id: s\($0), run: 'true', depends_on: [long]}\n" }.joined(),
        arguments: "--output quiet")
      _ = try #require(ControlSocket(of: run))
      let follower = try run.start("status --follow --json >followed.txt")
      #expect(eventually { run.content(of: "followed.txt").contains("complete") })
      run.touch("over")
      #expect(run.wait() == 1)
      let status = follower.wait()
      let lines = run.content(of: "followed.txt").split(separator: "\n")
      let isWhole = lines.last == "{\"finished\":true,\"exit_status\":1}"
      #expect(isWhole == (status == 0))
      if !isWhole { return false }
      #expect(lines.count { $0.contains("\"state\":\"blocked\"") } == 5000)
      return true
    }
    #expect(isTold)
  }

  @Test func `reach a run of a cluster through its directory, where its socket does not`() throws {
    let job = "SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n1 SLURM_JOB_CPUS_PER_NODE=2 SLURMD_NODENAME=n1"
    let run = try OprunProcess(
      "executor: slurm\n" + Self.waiting, arguments: "--output quiet", prefix: "export \(job); exec"
    )
    let control = try #require(ControlSocket(of: run))
    // As another machine sees it: nobody listens.
    unlink(control.path)
    close(try control.listen())
    #expect(try run.ask("status").contains("[0/1] 1 running"))
    #expect(
      try run.ask("status --follow")
        == "oprun: run \(control.runName) can be followed only on its own machine\n"
        + "  help: leave '--follow' out, or log in there\n1\n")
    #expect(
      try run.ask("cancel nothing")
        == "oprun: unknown step 'nothing' in this run\n1\n")
    #expect(try run.ask("cancel") == "the run is being cancelled\n0\n")
    #expect(run.wait() == 143)
    #expect(try run.ask("cancel \(control.runName)").contains("is no longer in progress"))
    let left = try FileManager.default.contentsOfDirectory(
      atPath: "\(run.folder.path)/.oprun/runs/\(control.runName)")
    #expect(!left.contains("@control"))
  }

  @Test func `wait for a run that is about to listen`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    let control = try #require(ControlSocket(of: run))
    // Between bind(2) and listen(2) a socket refuses, as does one that was closed.
    #expect(rename(control.path, control.path + ".later") == 0)
    close(try control.listen())
    let client = try run.start("cancel long >answer 2>&1")
    #expect(eventually { client.hasEnded || isAsleep(client) })
    #expect(rename(control.path + ".later", control.path) == 0)
    #expect(client.wait() == 0)
    #expect(run.content(of: "answer") == "'long' is being cancelled\n")
    run.touch("over")
    _ = run.wait()
  }

  /// Whether the process sleeps for some time.
  private func isAsleep(_ child: Child) -> Bool {
    let file = "/proc/\(child.processID)/wchan"
    return (try? String(contentsOfFile: file, encoding: .utf8))?.contains("nanosleep") ?? false
  }

  @Test func `see the block of the run in another terminal`() throws {
    let run = try OprunProcess(
      "steps:\n  - id: long\n    run: 'echo first; until test -e over; do sleep 0.02; done'\n"
        + "  - {id: last, depends_on: [long], run: exit 3}\n", arguments: "--output quiet")
    _ = try #require(ControlSocket(of: run))
    let device = try PseudoTerminal(columns: 60, rows: 14)
    let emulator = TerminalEmulator(rows: 14, columns: 60)
    let client = try Child(
      script: """
        cd '\(run.folder.path)'
        unset CI GITHUB_ACTIONS GITLAB_CI BUILDKITE TEAMCITY_VERSION TF_BUILD TMUX STY NO_COLOR
        export TERM=xterm-256color
        exec <\(device.path) >\(device.path) 2>&1
        exec setsid --ctty --wait '\(OprunProcess.program)' status --follow --color never
        """)
    func see(_ text: String) -> Bool {
      eventually {
        emulator.feed(device.news())
        return emulator.text.contains(text)
      }
    }
    #expect(see("1 running, 1 waiting"), "\(emulator.text)")
    #expect(see("first"), "\(emulator.text)")
    #expect(
      try run.ask("pause") == "the run is paused: running steps continue, no new step starts\n0\n")
    #expect(see(", paused by "), "\(emulator.text)")
    #expect(try run.ask("continue") == "the run continues\n0\n")
    run.touch("over")
    #expect(run.wait() == 1)
    #expect(client.wait() == 0)
    #expect(see("pipeline.yml: 1 failed, 1 ok in "), "\(emulator.text)")
    let lines = emulator.text.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasPrefix("✓ long") })
    #expect(lines.contains { $0.hasPrefix("✗ last  exit 3 after ") })
    #expect(!emulator.text.contains("> long"), "\(emulator.text)")
    #expect(emulator.faults == [])
  }

  @Test func `and change it are named when the run is shown`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    _ = try #require(ControlSocket(of: run))
    #expect(try run.ask("pause").hasSuffix("\n0\n"))
    #expect(try run.ask("continue").hasSuffix("\n0\n"))
    run.touch("over")
    #expect(run.wait() == 0)
    let shown = try run.ask("show --json").dropLast("0\n".count)
    let fields = try #require(
      JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any])
    let changes = try #require(fields["changes"] as? [[String: Any]])
    let user = try #require(changes.first?["by"] as? String)
    #expect(changes.map { $0["action"] as? String } == ["pause", "continue"])
    #expect(
      changes.map { $0["words"] as? String } == ["paused by \(user)", "continued by \(user)"])
    #expect(changes.allSatisfy { $0["at_ms"] is Int })
  }

  @Test func `hear that a run which was killed is no longer in progress`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    let control = try #require(ControlSocket(of: run))
    run.send(SIGKILL)
    _ = run.wait()
    #expect(FileManager.default.fileExists(atPath: control.path))
    let name = control.runName
    #expect(
      try run.ask("status \(name)")
        == """
        oprun: run \(name) is no longer in progress: its oprun died
          help: 'oprun show \(name)' shows how it ended
        4

        """)
    #expect(try run.ask("status").hasSuffix("help: 'oprun history' lists past runs\n4\n"))
  }

  @Test func `reach a run however long its path is`() throws {
    let deep = (0..<12).map { _ in "a-directory-with-a-long-name" }.joined(separator: "/")
    let run = try OprunProcess(
      Self.waiting, arguments: "--output quiet --state-dir \(deep)/.oprun",
      prefix: "mkdir -p \(deep); exec")
    #expect(try run.ask("status --state-dir \(deep)/.oprun", until: 120).contains("1 running"))
    #expect(
      try run.ask("cancel --state-dir \(deep)/.oprun") == "the run is being cancelled\n0\n")
    #expect(run.wait() == 143)
  }

  @Test func `of another version get a clear answer`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    let control = try #require(ControlSocket(of: run))
    run.touch("over")
    #expect(run.wait() == 0)
    // Another program in the place of the run.
    let listener = try control.listen()
    let client = try run.start("status \(control.runName) >answer.txt 2>&1")
    let peer = accept(listener, nil, nil)
    var bytes = [UInt8](repeating: 0, count: 4096)
    _ = recv(peer, &bytes, bytes.count, 0)
    let answer = "{\"protocol\":9,\"oprun\":\"9.1.0\",\"ok\":true}\n"
    _ = send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
    #expect(client.wait() == 1)
    close(peer)
    close(listener)
    #expect(
      run.content(of: "answer.txt")
        == """
        oprun: the run is one of oprun 9.1.0, which answers in version 9, wanted 1
          help: use the oprun that started it

        """)
  }

  @Test func `by name find one of several runs`() throws {
    let run = try OprunProcess(Self.waiting, arguments: "--output quiet")
    let control = try #require(ControlSocket(of: run))
    let other = try run.start("pipeline.yml --output quiet")
    #expect(eventually { (try? run.ask("status").contains("2 runs are in progress")) == true })
    #expect(try run.ask("status").hasSuffix("2\n"))
    #expect(try run.ask("status \(control.runName)").contains("1 running"))
    #expect(try run.ask("status \(control.runName.suffix(2))").contains("1 running"))
    #expect(try run.ask("status last").contains("1 running"))
    run.touch("over")
    #expect(run.wait() == 0)
    #expect(other.wait() == 0)
  }
}

extension OprunProcess {
  /// Starts oprun once more, in the same directory.
  fileprivate func start(_ arguments: String) throws -> Child {
    try Child(script: "cd '\(folder.path)' && exec '\(OprunProcess.program)' \(arguments)")
  }

  /// What oprun says to a command, and its status. One that is not successful is repeated for so many
  /// seconds.
  func ask(_ arguments: String, until seconds: Double = 0) throws -> String {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let child = try start("\(arguments) >answer 2>&1 </dev/null")
      let status = child.wait()
      if status == 0 || .now > end { return content(of: "answer") + "\(status)\n" }
      usleep(20_000)
    }
  }

  /// The number that is the whole content of a file.
  func number(in file: String) -> Int32? {
    Int32(content(of: file).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  func touch(_ file: String) {
    _ = FileManager.default.createFile(
      atPath: folder.appending(path: file).path, contents: Data())
  }
}

/// The socket of a run, as its own users see it.
private final class ControlSocket {
  let path: String
  let runName: String
  private let directory: Int32

  /// Waits until the run has it; nil if it has none in time.
  init?(of run: OprunProcess) {
    let runs = run.folder.appending(path: ".oprun/runs").path
    var found: String?
    _ = eventually {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: runs)) ?? []
      found = names.first {
        FileManager.default.fileExists(atPath: "\(runs)/\($0)/@control")
      }
      return found != nil
    }
    guard let found else { return nil }
    runName = found
    path = "\(runs)/\(found)/@control"
    directory = open("\(runs)/\(found)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  deinit { close(directory) }

  var mode: mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  private var address: sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { place in
      place.copyBytes(from: Array("/proc/self/fd/\(directory)/@control".utf8))
    }
    return address
  }

  func connect() throws -> Int32 {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    // For a moment the socket has a name and does not listen yet.
    try call { address, size in
      var result: Int32 = -1
      _ = eventually {
        result = Glibc.connect(socket, address, size)
        return result == 0 || errno != ECONNREFUSED
      }
      return result
    }
    return socket
  }

  func listen() throws -> Int32 {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try call { bind(socket, $0, $1) }
    Glibc.listen(socket, 4)
    return socket
  }

  private func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws {
    var address = address
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// The first line of what is answered.
  func ask(_ request: String) throws -> String {
    let socket = try connect()
    defer { close(socket) }
    _ = send(socket, request, request.utf8.count, Int32(MSG_NOSIGNAL))
    var answer: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while !answer.contains(UInt8(ascii: "\n")) {
      let count = recv(socket, &bytes, bytes.count, 0)
      if count <= 0 { break }
      answer += bytes[..<count]
    }
    return String(decoding: answer, as: UTF8.self)
  }
}
