// What happens to the others when the process of one image dies, hangs or is told to stop; and what
// these processes cannot do.

import CConfinement
import Foundation
import Glibc
import TestSupport
import Testing

@testable import oprun_steps

/// Six million pixels: as AVIF they keep an encoder busy for seconds.
private let slowImage = Result {
  let folder = try ImageFolder()
  try folder.write(try Pixels.noise(200, 200).encoded("png"), to: "small.png")
  try folder.run(
    "resize", "--from=small.png", "--to=large.jpg", "--width=2500", "--height=2500", "--fit=fill")
  return try folder.bytes("large.jpg")
}

/// The processes below another, by the parents that the kernel reports.
private func descendants(of process: Int32) -> [Int32] {
  let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  let parents = all.compactMap { Int32($0) }.compactMap { process -> (Int32, Int32)? in
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let rest = text.split(separator: ")").last?.split(separator: " "), rest.count > 1,
      rest[0] != "Z", let parent = Int32(rest[1])
    else { return nil }
    return (process, parent)
  }
  var found: [Int32] = [process]
  var index = 0
  while index < found.count {
    found += parents.filter { $0.1 == found[index] }.map(\.0)
    index += 1
  }
  return Array(found.dropFirst())
}

/// The processor time of a process, in ticks.
private func ticks(_ process: Int32) -> Int {
  guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
    let rest = text.split(separator: ")").last?.split(separator: " "), rest.count > 12
  else { return 0 }
  return (Int(rest[11]) ?? 0) + (Int(rest[12]) ?? 0)
}

/// Whether a file that a process has open for writing, and that has no name, is not empty.
private func hasWritten(_ process: Int32) -> Bool {
  let folder = "/proc/\(process)/fd"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return names.contains { name in
    let path = "\(folder)/\(name)"
    let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
    var status = stat()
    return target.contains("/#") && stat(path, &status) == 0 && status.st_size > 0
  }
}

private func wait(_ condition: () -> Bool) -> Bool {
  let end = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < end {
    if condition() { return true }
    usleep(2500)
  }
  return false
}

@Suite(.blocking, .serialized) struct WorkerTests {
  private func folderWithSlowImage() throws -> ImageFolder {
    let folder = try ImageFolder()
    try folder.write(try slowImage.get(), to: "slow.jpg")
    for index in 1...4 {
      try folder.write(try Pixels.corners(40, 40).encoded("png"), to: "good-\(index).png")
    }
    return folder
  }

  private let words = [
    "resize", "--from=slow.jpg", "--from=good-*.png", "--to=out/{name}.avif", "--width=2500",
    "--workers=1",
  ]

  /// The busy worker, which is the only one that uses the processor. It is stopped, so that it is still busy when the
  /// test has done what it does; nil if it was done before that, on a machine that is slow for a moment.
  private func busyWorker(
    of child: Child, in folder: ImageFolder, besides known: Int32 = 0
  ) -> Int32? {
    var worker: Int32?
    _ = wait {
      worker = descendants(of: child.processID).first { $0 != known && ticks($0) > 10 }
      if let worker { kill(worker, SIGSTOP) }
      return worker != nil || child.hasEnded
    }
    guard let found = worker, wait({ state(found) == "T" || child.hasEnded }), !child.hasEnded,
      !folder.files().contains("out/slow.avif")
    else {
      if let worker { kill(worker, SIGCONT) }
      return nil
    }
    return found
  }

  private func state(_ process: Int32) -> Character? {
    let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return text?.split(separator: ")").last?.first { $0 != " " }
  }

  @Test func `an image that takes too long fails alone`() throws {
    // On a slow machine the others need more, too.
    let isAlone = try once(within: ["400ms", "1s", "3s", "10s"]) { limit in
      let folder = try folderWithSlowImage()
      let end = try folder.run(words + ["--time-limit=\(limit)"])
      return end.status == 1
        && end.errors == "failed: slow.jpg: took longer than allowed: more than \(limit)\n"
        && folder.files().filter { $0.hasPrefix("out/") }.count == 4
    }
    #expect(isAlone)
  }

  @Test func `an image without a time limit is made`() throws {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(40, 40).encoded("png"), to: "a.png")
    let end = try folder.run(
      "resize", "--from=a.png", "--to=out/", "--width=20", "--time-limit=0s")
    #expect(end.errors == "")
    #expect(end.status == 0)
  }

  @Test func `an image that takes too much processor time fails alone`() throws {
    // On a busy machine, the clock can be first.
    let verdicts = ["more than 2s of processor time", "more than 3s"].map {
      "failed: slow.jpg: took longer than allowed: \($0)\n"
    }
    let isAlone = try once {
      let folder = try folderWithSlowImage()
      let end = try folder.run(words + ["--time-limit=3s"])
      return end.status == 1 && verdicts.contains(end.errors)
        && folder.files().filter { $0.hasPrefix("out/") }.count == 4
    }
    #expect(isAlone)
  }

  @Test func `a worker that dies of a fault fails its image alone`() throws {
    let isTested = try once {
      let folder = try folderWithSlowImage()
      let child = try folder.start(words)
      guard let worker = busyWorker(of: child, in: folder) else { return false }
      kill(worker, SIGSEGV)
      kill(worker, SIGCONT)
      try expectLoss(of: child, in: folder, by: "SIGSEGV")
      return true
    }
    #expect(isTested)
  }

  @Test func `an image whose worker somebody killed is tried once more`() throws {
    let isTested = try once {
      let folder = try folderWithSlowImage()
      let child = try folder.start(words)
      var worker: Int32 = 0
      for _ in 1...2 {
        guard let next = busyWorker(of: child, in: folder, besides: worker) else { return false }
        worker = next
        kill(worker, SIGKILL)
      }
      try expectLoss(of: child, in: folder, by: "SIGKILL")
      return true
    }
    #expect(isTested)
  }

  /// The slow image failed, and the others did not.
  private func expectLoss(of child: Child, in folder: ImageFolder, by signal: String) throws {
    #expect(child.wait() == 1)
    #expect(
      try told(in: folder)
        == "failed: slow.jpg: the process that decoded it was killed by \(signal)\n")
    #expect(folder.files().filter { $0.hasPrefix("out/") }.count == 4)
  }

  private let loss =
    "the process that starts the image decoders was killed by SIGKILL; it is started again, and "
    + "the images in progress are decoded again\n"

  /// On a busy machine there is progress, too.
  private func told(in folder: ImageFolder) throws -> String {
    try folder.text(".stderr").replacing(/(?m)^[0-9]+\/5 images\n/, with: "")
  }

  @Test func `what starts workers is started again, and images in work are tried once more`() throws
  {
    let isTested = try once {
      let folder = try folderWithSlowImage()
      // Slow enough to be killed; it is made in the end.
      let child = try folder.start(words.map { $0.replacing("--width=2500", with: "--width=1000") })
      guard let worker = busyWorker(of: child, in: folder) else { return false }
      let zygote = try #require(descendants(of: child.processID).first { $0 != worker })
      kill(zygote, SIGKILL)
      kill(worker, SIGCONT)
      #expect(child.wait() == 0)
      #expect(try told(in: folder) == loss)
      #expect(folder.files().filter { $0.hasPrefix("out/") }.count == 5)
      return true
    }
    #expect(isTested)
  }

  @Test func `processes that somebody has stopped hold nobody up`() throws {
    let isTested = try once(within: ["2s", "20s"]) { limit in
      let folder = try folderWithSlowImage()
      let child = try folder.start(words + ["--time-limit=\(limit)"])
      guard let worker = busyWorker(of: child, in: folder) else { return false }
      let zygote = try #require(descendants(of: child.processID).first { $0 != worker })
      kill(zygote, SIGSTOP)
      #expect(child.wait() == 1)
      // On a slow machine the others need more, too.
      return try told(in: folder)
        == "failed: slow.jpg: took longer than allowed: more than \(limit)\n"
        && folder.files().filter { $0.hasPrefix("out/") }.count == 4
    }
    #expect(isTested)
  }

  @Test func `an image in work is tried no third time, and the others are made`() throws {
    let isTested = try once {
      let folder = try folderWithSlowImage()
      let child = try folder.start(words)
      var worker: Int32 = 0
      for _ in 1...2 {
        guard let next = busyWorker(of: child, in: folder, besides: worker) else { return false }
        worker = next
        let zygote = try #require(descendants(of: child.processID).first { $0 != worker })
        kill(zygote, SIGKILL)
        kill(worker, SIGCONT)
      }
      #expect(child.wait() == 1)
      let failure = "failed: slow.jpg: the process that decoded it was killed by SIGKILL\n"
      // The last two come from different threads.
      let told = try told(in: folder)
      #expect([loss + failure + loss, loss + loss + failure].contains(told), "\(told)")
      #expect(folder.files().filter { $0.hasPrefix("out/") }.count == 4)
      return true
    }
    #expect(isTested)
  }

  @Test func `a composition that is written when its worker is killed is whole`() throws {
    let folder = try ImageFolder()
    try folder.write(try slowImage.get(), to: "slow.jpg")
    let words = ["compose", "--images=slow.jpg", "--workers=1", "--width=2500", "--quality=90"]
    try folder.run(words + ["--to=whole.png"])
    let isTested = try once {
      let child = try folder.start(words + ["--to=again.png"])
      // Only a file without a name shows that writing has begun.
      var worker: Int32?
      _ = wait {
        worker = descendants(of: child.processID).last.flatMap { hasWritten($0) ? $0 : nil }
        return worker != nil || child.hasEnded
      }
      if let worker { kill(worker, SIGKILL) }
      #expect(child.wait() == 0)
      #expect(try folder.bytes("again.png") == folder.bytes("whole.png"))
      return worker != nil
    }
    #expect(isTested)
  }

  @Test func `no process is left when the program is killed`() throws {
    let isTested = try once {
      let folder = try folderWithSlowImage()
      let child = try folder.start(words)
      guard let worker = busyWorker(of: child, in: folder) else { return false }
      let processes = descendants(of: child.processID)
      #expect(processes.count == 2)
      kill(child.processID, SIGKILL)
      kill(worker, SIGCONT)
      _ = child.wait()
      let areGone = wait { processes.allSatisfy { [nil, "Z"].contains(state($0)) } }
      #expect(areGone)
      #expect(!folder.files().contains { $0.hasSuffix("slow.avif") })
      return true
    }
    #expect(isTested)
  }

  @Test func `a confined process can do nothing but decode`() throws {
    let folder = try ImageFolder()
    let end = try folder.run("confinement")
    #expect(end.status == 0, "\(end.output)")
    #expect(!end.output.contains("POSSIBLE"))
    #expect(end.output.split(separator: "\n").filter { $0.hasPrefix("refused ") }.count == 9)
  }

  /// The attempts can succeed: a probe that always says "refused" would prove nothing.
  @Test func `what is refused in confinement works outside of it`() {
    let harmless = [
      confinement_read_file, confinement_write_file, confinement_list_folder,
      confinement_start_process, confinement_signal_parent,
    ]
    for attempt in harmless { #expect(confinement_try(attempt) == 0, "\(attempt.rawValue)") }
  }
}
