// Kernels without Landlock or seccomp: images are processed anyway, and this is reported.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import oprun_steps

/// Runs the program with some system calls failing as on a kernel that does not know them: an
/// inherited filter answers in place of the kernel.
private struct OldKernel {
  /// `landlock`, `seccomp`, `privileges` (that of giving up new ones), `unnamed` (files without a name).
  let lacks: [String]

  func run(_ words: [String], in folder: ImageFolder) throws -> (Int32, String, String) {
    let child = try start(words, in: folder)
    return (child.wait(), try folder.text(".stdout"), try folder.text(".stderr"))
  }

  func start(_ words: [String], in folder: ImageFolder) throws -> Child {
    try folder.write(Array(Self.launcher.utf8), to: ".old.py")
    let all = ["python3", "-S", ".old.py", lacks.joined(separator: ","), ImageFolder.program]
    let line = (all + words).map(quotedForShell).joined(separator: " ")
    return try Child(
      script: "cd \(quotedForShell(folder.url.path)) && exec \(line) </dev/null >.stdout 2>.stderr")
  }

  private static let launcher = """
    import ctypes, os, platform, struct, sys
    EINVAL, ENOSYS = 22, 38
    seccomp, prctl = (277, 167) if platform.machine() == "aarch64" else (317, 157)
    LOAD, EQUAL, ANSWER = 0x20, 0x15, 0x06
    ALLOW, ERRNO = 0x7fff0000, 0x00050000
    program = []
    def refuse(call, error):
        program.extend([(LOAD, 0, 0, 0), (EQUAL, 0, 1, call), (ANSWER, 0, 0, ERRNO | error)])
    def refuse_prctl(option, error):
        program.extend([(LOAD, 0, 0, 0), (EQUAL, 0, 3, prctl), (LOAD, 0, 0, 16),
                        (EQUAL, 0, 1, option), (ANSWER, 0, 0, ERRNO | error)])
    lacks = sys.argv[1].split(",")
    if "landlock" in lacks:
        for call in (444, 445, 446): refuse(call, ENOSYS)
    if "seccomp" in lacks:
        refuse(seccomp, EINVAL)
        refuse_prctl(22, EINVAL)  # PR_SET_SECCOMP
    if "privileges" in lacks:
        refuse_prctl(38, EINVAL)  # PR_SET_NO_NEW_PRIVS
    if "unnamed" in lacks:
        openat, TMPFILE, ANY = 56 if platform.machine() == "aarch64" else 257, 0x400000, 0x45
        program.extend([(LOAD, 0, 0, 0), (EQUAL, 0, 3, openat), (LOAD, 0, 0, 32),
                        (ANY, 0, 1, TMPFILE), (ANSWER, 0, 0, ERRNO | 95)])
    program.append((ANSWER, 0, 0, ALLOW))
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code)
    filter = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()
    os.execv(sys.argv[2], sys.argv[2:])
    """
}

private func folderWithImages() throws -> ImageFolder {
  let folder = try ImageFolder()
  for name in ["a", "b", "c"] {
    try folder.write(try Pixels.corners(40, 20).encoded("png"), to: "\(name).png")
  }
  return folder
}

@Suite(.blocking) struct OldKernelTests {
  private static let cases = [
    (["landlock"], "no Landlock"), (["seccomp"], "no seccomp"),
    (["landlock", "seccomp"], "no Landlock and no seccomp"),
  ]

  @Test(arguments: cases)
  func `images are made, and it is told once what is missing`(
    lacks: [String], words: String
  ) throws {
    let told = """
      the kernel grants \(words): image decoders are less confined; 'oprun-steps confinement' \
      shows how far

      """
    let folder = try folderWithImages()
    let resized = try OldKernel(lacks: lacks).run(
      ["resize", "--from=*.png", "--to=out/{name}.{ext}", "--width=10", "--workers=3"], in: folder)
    #expect(resized.0 == 0)
    #expect(resized.2 == told)
    for name in ["a", "b", "c"] {
      let made = try Pixels(decoding: try folder.bytes("out/\(name).png"))
      let size: [Int] = [made.width, made.height]
      #expect(size == [10, 5])
    }
    let composed = try OldKernel(lacks: lacks).run(
      ["compose", "--images=?.png", "--to=sheet.png", "--layout=row"], in: folder)
    #expect(composed.0 == 0)
    #expect(composed.2 == "oprun-steps: " + told)
    #expect(try Pixels(decoding: try folder.bytes("sheet.png")).width == 120)
  }

  @Test func `nothing is told where nothing is missing`() throws {
    let folder = try folderWithImages()
    let end = try OldKernel(lacks: []).run(
      ["resize", "--from=*.png", "--to=out/{name}.{ext}", "--width=10"], in: folder)
    #expect(end.0 == 0)
    #expect(end.2 == "")
  }

  @Test func `what is left is shown as it is`() throws {
    func confinement(without lacks: String...) throws -> (Int32, [Substring]) {
      let end = try OldKernel(lacks: lacks).run(["confinement"], in: ImageFolder())
      #expect(end.2 == "")
      return (end.0, end.1.split(separator: "\n"))
    }
    let withoutSeccomp = try confinement(without: "seccomp")
    #expect(withoutSeccomp.0 == 1)
    #expect(withoutSeccomp.1.contains("seccomp       no: not on this kernel or machine"))
    #expect(withoutSeccomp.1.contains("refused   open a file for reading"))
    #expect(withoutSeccomp.1.contains("POSSIBLE  start a process"))
    let withoutLandlock = try confinement(without: "landlock")
    #expect(withoutLandlock.0 == 0)
    #expect(withoutLandlock.1.contains("landlock      no: the kernel has none"))
    #expect(withoutLandlock.1.filter { $0.hasPrefix("refused ") }.count == 9)
    let withoutBoth = try confinement(without: "landlock", "seccomp")
    #expect(withoutBoth.0 == 1)
    for attempt in ["open a file for reading", "list a directory", "run another program"] {
      #expect(withoutBoth.1.contains("POSSIBLE  \(attempt)"))
    }
    #expect(withoutBoth.1.contains("refused   map 8 GiB of memory"))
    #expect(withoutBoth.1.contains("capabilities  none"))
  }

  @Test func `one layer does not depend on another`() throws {
    let end = try OldKernel(lacks: ["privileges", "landlock", "seccomp"]).run(
      ["confinement"], in: ImageFolder())
    #expect(end.1.contains("capabilities  none\n"))
    let granted = try OldKernel(lacks: ["privileges"]).run(["confinement"], in: ImageFolder())
    #expect(granted.0 == 0, "\(granted.1)")
  }

  @Test func `what a killed run has left where all files have names goes with the next run`() throws
  {
    let folder = try folderWithImages()
    let words = [
      "resize", "--from=?.png", "--to=out/{name}.avif", "--width=3000", "--height=3000",
      "--fit=fill", "--workers=1",
    ]
    let kernel = OldKernel(lacks: ["unnamed"])
    func parts() -> [String] { folder.files().filter { $0.hasSuffix(".part") } }
    // On a machine that is slow for a moment it can be done before it is killed.
    let isLeft = try once {
      let child = try kernel.start(words, in: folder)
      while parts().isEmpty, !child.hasEnded { usleep(1000) }
      kill(child.processID, SIGKILL)
      _ = child.wait()
      return !parts().isEmpty
    }
    #expect(isLeft)
    for name in [".oprun-1-1.part", ".oprun-2-2.part", ".oprun-mine.part", "a.part"] {
      try folder.write([1], to: "out/\(name)")
    }
    // It is still in use.
    let used = try OpenFile(folder.path("out/.oprun-2-2.part"), O_RDWR)
    #expect(used.tryLock(LOCK_EX))
    // Until the kernel has ended the last of its processes, its files are in use.
    while !areLeft(parts(), in: folder) { usleep(2500) }
    let (status, _, errors) = try kernel.run(
      words.map { $0.replacing("3000", with: "20") }, in: folder)
    #expect(status == 0, "\(errors)")
    #expect(parts() == ["out/.oprun-2-2.part", "out/.oprun-mine.part", "out/a.part"])
    withExtendedLifetime(used) {}
  }

  private func areLeft(_ parts: [String], in folder: ImageFolder) -> Bool {
    parts.filter { $0 != "out/.oprun-2-2.part" }.allSatisfy { name in
      guard let file = try? OpenFile(folder.path(name), O_RDWR) else { return false }
      return file.tryLock(LOCK_EX)
    }
  }
}
