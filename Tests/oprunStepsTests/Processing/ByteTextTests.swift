// File names that are not UTF-8: their form as strings, and what happens to such images.

import Diagnostics
import Foundation
import Glibc
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct ByteTextTests {
  @Test(
    arguments: [
      [], Array("café.jpg".utf8), [0x63, 0xe9, 0x2e], [0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80],
      [0xf4, 0x8f, 0xbe, 0xa9], [0xe2, 0x82, 0x41, 0xc0, 0x80], [0xf0, 0x9f, 0x98],
    ] as [[UInt8]])
  func `a name comes out of its text as it went in`(bytes: [UInt8]) {
    let text = ByteText.text(of: bytes)
    let back = ByteText.withBytes(text) { name in
      (0..<strlen(name)).map { UInt8(bitPattern: name[$0]) }
    }
    #expect(back == bytes)
    #expect(ByteText.isWhole(text) == (String(validating: bytes, as: UTF8.self) == text))
  }

  @Test func `bytes that are no UTF-8 are shown as escapes`() {
    #expect(ByteText.shown(ByteText.text(of: [0x63, 0xe9, 0x2e, 0xff])) == "c\\xe9.\\xff")
    #expect(ByteText.shown("café") == "café")
    #expect(
      ByteText.text(of: [0x63, 0xe9])
        != ByteText.text(of: Array(ByteText.text(of: [0x63, 0xe9]).utf8)))
  }

  /// `caf\351.png` and `caf\352.png`, as old systems have written them.
  private func folderWithOldNames() throws -> ImageFolder {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(40, 20).encoded("png"), to: "plain.png")
    let child = try Child(
      script: """
        cd \(quotedForShell(folder.url.path)) || exit 1
        for byte in 351 352; do ln plain.png "$(printf "caf\\\\$byte.png")" || exit 1; done
        """)
    try #require(child.wait() == 0)
    return folder
  }

  private func run(_ words: String, in folder: ImageFolder) throws -> (Int32, String) {
    let child = try Child(
      script: """
        cd \(quotedForShell(folder.url.path)) && old="$(printf 'caf\\351')"
        exec \(quotedForShell(ImageFolder.program)) \(words) </dev/null >.stdout 2>.stderr
        """)
    return (child.wait(), try folder.text(".stderr"))
  }

  @Test func `images whose names are no UTF-8 are read, by pattern and by name`() throws {
    let folder = try folderWithOldNames()
    let words = "resize --width=10 --manifest=m.json"
    var (status, errors) = try run(
      "\(words) --from='caf*.png' --to='all/{index}.{ext}'", in: folder)
    #expect(status == 0)
    #expect(errors == "")
    (status, errors) = try run("\(words) --from=\"$old.png\" --to=one/", in: folder)
    #expect(status == 0)
    #expect(errors == "")
    #expect(
      folder.files().filter { $0.contains("/") } == ["all/1.png", "all/2.png", "one/caf_.png"])
    #expect(
      try folder.text("m.json").contains(
        #""origin":"caf\\xe9.png","files":[{"path":"one/caf_.png""#))
    (status, errors) = try run("compose --images='caf*.png' --to=sheet.png", in: folder)
    #expect(status == 0)
    #expect(errors == "")
  }

  @Test func `a folder is told as one`() throws {
    let folder = try ImageFolder()
    try folder.makeFolder("photos")
    let message = "is a directory, wanted a file; 'DIR/*' takes the files in it\n"
    #expect(
      try run("resize --from=photos --to=out/ --width=10", in: folder)
        == (1, "failed: photos: \(message)"))
    #expect(
      try run("compose --images=photos --to=sheet.png", in: folder)
        == (1, "oprun-steps: 'photos': \(message)"))
  }

  @Test func `what cannot be done with such a name is said with the name`() throws {
    let folder = try folderWithOldNames()
    let usage = "try 'oprun-steps resize --help'\n"
    for words in ["\"$old\"", "resize \"$old\"", "cache \"$old\""] {
      #expect(
        try run(words, in: folder) == (
          2, "oprun-steps: the argument 'caf\\xe9' is not UTF-8\ntry 'oprun-steps --help'\n"
        ))
    }
    #expect(
      try run("resize --from='*.png' --to=\"$old/\" --width=10", in: folder)
        == (
          2, "oprun-steps: the argument '--to=caf\\xe9/' is not UTF-8\ntry 'oprun-steps --help'\n"
        ))
    #expect(
      try run("resize --from='caf*.png' --to='out/{name}.png' --width=10", in: folder) == (
        2,
        """
        oprun-steps: 'caf\\xe9.png' and 'caf\\xea.png' would both be written to 'out/caf_.png'
          help: '{index}' in 'to' keeps them apart
        \(usage)
        """
      ))
    #expect(
      try run("resize --from=\"$old.gif\" --to=out/ --width=10", in: folder)
        == (1, "failed: caf\\xe9.gif: cannot open 'caf\\xe9.gif': no such file or directory\n"))
    #expect(
      try run("resize --from=\"$old?.gif\" --to=out/ --width=10", in: folder)
        == (2, "oprun-steps: 'from' matches no file: 'caf\\xe9?.gif'\n" + usage))
  }
}
