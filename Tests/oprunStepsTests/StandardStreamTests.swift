// What the program inherits: standard streams that are closed, and few descriptors.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

private func run(_ words: String, _ closing: String, in folder: ImageFolder) throws -> Int32 {
  let program = quotedForShell(builtProgram("oprun-steps"))
  return try Child(
    script: """
      cd '\(folder.url.path)' && export OPRUN_DOWNLOAD_CACHE=cache
      exec </dev/null >.stdout 2>.stderr
      exec timeout 600 \(program) \(words) \(closing)
      """
  ).wait()
}

@Suite(.blocking) struct StandardStreamTests {
  @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
  func `a stream that is closed is not in the way`(closing: String) throws {
    let folder = try ImageFolder()
    try folder.write([1, 2, 3], to: "bad.png")
    try folder.write(try Pixels.corners(20, 20).encoded("png"), to: "good.png")
    #expect(try run("resize --from='*.png' --to=out/ --width=10", closing, in: folder) == 1)
    #expect(folder.files(besides: ["bad.png", "good.png"]) == ["out/good.png"])
    if closing != "2>&-" { return }
    let server = try LoopbackServer { _, connection in connection.answer("404 No") }
    let words = "download --url=\(server.url)/x --to=x --allow-private --cache"
    #expect(try run(words, closing, in: folder) == 1)
    #expect(try folder.text("cache/lock") == "")
  }

  @Test(arguments: ["ulimit -n 150", "ulimit -Sn 40"])
  func `many sizes at once are no more than descriptors suffice for`(limit: String) throws {
    let folder = try ImageFolder()
    let image = try Pixels.corners(20, 20).encoded("png")
    for number in 1...30 { try folder.write(image, to: "in\(number).png") }
    let sizes = (1...16).map { "--width=\($0)" }.joined(separator: " ")
    let program = quotedForShell(builtProgram("oprun-steps"))
    let child = try Child(
      script: """
        cd '\(folder.url.path)' && \(limit) && exec \(program) resize --from='in*.png' \
        --to='out/{name}-{width}.png' --workers=16 \(sizes) </dev/null >.stdout 2>.stderr
        """)
    #expect(child.wait() == 0)
    #expect(try folder.text(".stderr") == "")
    #expect(folder.files().count == 30 * 17)
  }
}
