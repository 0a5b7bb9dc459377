// Inputs that are checked before there is an image.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

private func settings(_ words: String...) -> Result<ResizeSettings, UsageFailure> {
  Result { () throws(UsageFailure) in
    let request = try Request(["resize", "--from=a.jpg"] + words)
    guard case .perform(let inputs) = request else { throw UsageFailure("no step") }
    return try ResizeSettings(inputs)
  }
}

/// The paths of the results of one image.
private func paths(_ words: String...) throws -> [String] {
  let request = try Request(["resize", "--from=a.jpg"] + words)
  guard case .perform(let inputs) = request else { throw UsageFailure("no step") }
  let settings = try ResizeSettings(inputs)
  return settings.results(for: .png).map {
    settings.pattern.path(
      PathPattern.Values(
        name: "photo", ext: $0.format.fileExtension, box: $0.box, index: 7))
  }
}

private func fault(_ words: String...) -> String {
  do {
    let request = try Request(["resize", "--from=a.jpg"] + words)
    guard case .perform(let inputs) = request else { return "no step" }
    _ = try ResizeSettings(inputs)
    return "none"
  } catch { return error.message + (error.help.map { "; \($0)" } ?? "") }
}

@Suite(.blocking) struct ResizeSettingsTests {
  @Test func `fields are filled in`() throws {
    #expect(
      try paths("--to=out/{name}-{width}x{height}.{ext}", "--width=300", "--width=20", "--height=9")
        == ["out/photo-300x9.png", "out/photo-20x9.png"])
    #expect(try paths("--to={index}.jpg", "--width=3") == ["7.jpg"])
    #expect(try paths("--to=out/", "--width=3", "--format=webp") == ["out/photo.webp"])
  }

  @Test func `the ending is the format`() throws {
    #expect(try settings("--to=a.jpeg", "--width=3").get().format == .jpeg)
    #expect(try settings("--to=a.{ext}", "--width=3").get().format == nil)
    #expect(try settings("--to=a", "--width=3", "--format=png").get().format == .png)
    #expect(try settings("--to=v1.{ext}/a", "--width=3").get().format == nil)
  }

  @Test func `mistakes are told`() {
    let to = "--to={name}.png"
    #expect(
      fault("--to=a.txt", "--width=3")
        == "'to' ends in '.txt', which is the extension of no format; set 'format', or end 'to' in '.{ext}'"
    )
    #expect(
      fault("--to=a.png", "--format=jpeg", "--width=3")
        == "'format' is JPEG, but 'to' ends in '.png'; '.{ext}' follows the format")
    #expect(
      fault(to, "--width=3", "--width=4")
        == "'to' gives the same path to the sizes 3 × auto and 4 × auto; put '{width}' or '{height}' in it"
    )
    #expect(
      fault("--to={width}.png", "--width=3", "--width=3") == "a size is given twice: 3 × auto")
    #expect(
      fault("--to={height}.png", "--width=3") == "'to' has '{height}', but no 'height' is given")
    #expect(
      fault(to, "--width=3", "--fit=cover")
        == "'fit: cover' needs 'width' and 'height'; 'height' is missing")
    #expect(
      fault(to, "--width=3", "--width=4", "--height=1", "--height=2", "--height=3")
        == "'width' and 'height' want as many values, or one of either, found 2 and 3")
    #expect(
      fault(to, "--width=3", "--background=whit")
        == "'--background' wants '#rrggbb', '#rrggbbaa' or one of white, black, gray, red, green, blue, yellow, transparent, found 'whit'"
    )
  }

  @Test func `two images of one path are refused before anything is written`() throws {
    let folder = try ImageFolder()
    for file in ["a.png", "b/a.png"] {
      try folder.makeFolder("b")
      try folder.write(try Pixels.corners(8, 8).encoded("png"), to: file)
    }
    let end = try folder.run(
      "resize", "--from=a.png", "--from=b/*", "--to=out/{name}.{ext}", "--width=4")
    #expect(end.status == 2)
    #expect(
      end.errors == """
        oprun-steps: 'a.png' and 'b/a.png' would both be written to 'out/a.png'
          help: '{index}' in 'to' keeps them apart
        try 'oprun-steps resize --help'

        """)
    #expect(folder.files(besides: ["a.png", "b/a.png"]) == [])
  }

  @Test func `names of files lead nowhere else`() throws {
    let folder = try ImageFolder()
    let name = "..\\..\u{1B}[2J.png"
    try folder.write(try Pixels.corners(8, 8).encoded("png"), to: name)
    let end = try folder.run(
      "resize", "--from=*.png", "--from=.*.png", "--to=out/{name}.{ext}", "--width=4")
    #expect(end.status != 0)
    let again = try folder.run("resize", "--from=.*.png", "--to=out/{name}.{ext}", "--width=4")
    #expect(again.status == 0, "\(again.errors)")
    #expect(folder.files(besides: [name]) == ["out/_._.._[2J.png"])
  }
}
