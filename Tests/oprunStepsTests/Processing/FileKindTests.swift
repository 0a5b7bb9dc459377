// What a file is, by its first bytes.

import TestSupport
import Testing

@testable import oprun_steps

private func kind(_ text: String) -> FileKind { FileKind(firstBytes: text.utf8) }

@Suite(.blocking) struct FileKindTests {
  @Test func `images are known by their first bytes`() {
    #expect(FileKind(firstBytes: [0xFF, 0xD8, 0xFF, 0xE0]) == .image(.jpeg))
    #expect(FileKind(firstBytes: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0]) == .image(.png))
    #expect(kind("GIF89a…") == .image(.gif))
    #expect(kind("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ") == .image(.webp))
    #expect(kind("II*\u{0}….") == .image(.tiff))
    #expect(kind("\u{0}\u{0}\u{0}\u{1C}ftypavif") == .image(.avif))
    #expect(kind("\u{0}\u{0}\u{0}\u{1C}ftypheic") == .image(.heic))
    #expect(FileKind(firstBytes: [0xFF, 0x0A, 0, 0]) == .image(.jxl))
    #expect(
      FileKind(firstBytes: [0, 0, 0, 12] + Array("JXL \r\n".utf8) + [0x87, 0x0A]) == .image(.jxl))
  }

  @Test(arguments: [
    ("", "an empty file"), ("<!DOCTYPE html><html>", "a web page (HTML)"),
    ("\n\n  <html lang=en>", "a web page (HTML)"), ("<svg xmlns=", "an SVG drawing"),
    (
      "<?xml version='1.0'?>\n<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>",
      "an SVG drawing"
    ),
    ("<?xml version='1.0'?><rss>", "XML"), ("%PDF-1.7\n", "a PDF document"),
    ("PK\u{3}\u{4}…", "a ZIP archive"), ("BM6…", "a BMP image"), ("hello", "text"),
    ("{\"error\": \"not found\"}", "JSON"), ("\u{0}\u{1}\u{2}", "data of an unknown format"),
    ("RIFF\u{1}\u{1}\u{1}\u{1}WAVE", "data of an unknown format"),
  ])
  func `what is no image is called by its name`(content: String, words: String) {
    #expect(kind(content) == .other(words))
  }
}
