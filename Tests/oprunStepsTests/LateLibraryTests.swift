// Libraries that cannot be loaded when they are needed: a message in one line, and no crash.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// Runs the program with an empty file as a library.
private func run(
  _ words: String..., without library: String
) throws -> (status: Int32, errors: String) {
  let folder = try ImageFolder()
  try folder.write(try Pixels.corners(8, 8).encoded("png"), to: "a.png")
  try folder.makeFolder("none")
  try folder.write([], to: "none/\(library)")
  let line = ([builtProgram("oprun-steps")] + words).map(quotedForShell).joined(separator: " ")
  let child = try Child(
    script: """
      cd '\(folder.url.path)' && LD_LIBRARY_PATH=none exec \(line) </dev/null >.stdout 2>.stderr
      """)
  return (child.wait(), try folder.text(".stderr"))
}

@Suite(.blocking) struct LateLibraryTests {
  @Test func `without libvips each image fails with the reason`() throws {
    let resized = try run(
      "resize", "--from=a.png", "--to=b.png", "--width=4", without: "libvips.so.42")
    #expect(resized.status == 1)
    #expect(
      resized.errors
        == "failed: a.png: libvips cannot be used: none/libvips.so.42: file too short\n")
    let written = try run(
      "resize", "--from=a.png", "--to=b.avif", "--width=4", without: "libvips.so.42")
    #expect(written.errors == resized.errors)
    let composed = try run("compose", "--images=a.png", "--to=b.png", without: "libvips.so.42")
    #expect(
      composed.errors
        == "oprun-steps: 'a.png': libvips cannot be used: none/libvips.so.42: file too short\n")
    let confinement = try run("confinement", without: "libvips.so.42")
    #expect(confinement.errors == "")
  }

  @Test(arguments: ["libcurl.so.4", "libcrypto.so.3"])
  func `what needs another library ends at once, what does not goes on`(library: String) throws {
    let end = try run(
      "download", "--url=http://127.0.0.1:1/", "--to=x", without: library)
    #expect(end.status == 70)
    #expect(
      end.errors == "oprun-steps: a library cannot be used: none/\(library): file too short\n")
    for words in ["--version", "help"] { #expect(try run(words, without: library).status == 0) }
    #expect(try run("wait", "--file=a.png", without: library).status == 0)
  }

  @Test func `without ISA-L a PNG is decompressed by zlib`() throws {
    let end = try run("resize", "--from=a.png", "--to=b.png", "--width=4", without: "libisal.so.2")
    #expect(end.status == 0)
    #expect(end.errors == "")
  }
}
