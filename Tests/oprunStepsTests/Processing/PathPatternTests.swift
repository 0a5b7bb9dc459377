// Paths of results, and names that try to lead elsewhere.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

private func path(
  _ pattern: String, name: String = "photo", box: Box = Box(width: 300, height: 200)
) throws -> String {
  try PathPattern(pattern).path(
    PathPattern.Values(name: name, ext: "jpg", box: box, index: 7))
}

private func fault(_ pattern: String) -> String {
  do throws(StepInputFailure) {
    _ = try PathPattern(pattern)
    return "none"
  } catch { return error.message + (error.help.map { "; \($0)" } ?? "") }
}

@Suite(.blocking) struct PathPatternTests {
  @Test func `fields are filled in`() throws {
    #expect(try path("out/{name}-{width}x{height}.{ext}") == "out/photo-300x200.jpg")
    #expect(try path("{index}.jpg") == "7.jpg")
    #expect(try path("{{name}}.jpg") == "{name}.jpg")
  }

  @Test(arguments: [
    ("../../etc/passwd", "out/_._.._etc_passwd"), ("..", "out/_."), (".", "out/_"), ("", "out/_"),
    ("a/b", "out/a_b"), ("/etc/passwd", "out/_etc_passwd"), (".ssh", "out/_ssh"),
    ("a\u{0}b\nc\u{1B}[2J", "out/a_b_c_[2J"), ("{ext}", "out/{ext}"), ("-rf", "out/-rf"),
  ])
  func `a name never leads out of the folder`(name: String, expected: String) throws {
    #expect(try path("out/{name}.{ext}", name: name) == expected + ".jpg")
  }

  @Test func `a long name is cut at a character`() throws {
    let path = try path("{name}.{ext}", name: String(repeating: "ä", count: 200))
    #expect(path == String(repeating: "ä", count: 75) + ".jpg")
  }

  @Test func `where there is no extension, there is no dot for it`() throws {
    func path(_ pattern: String, ext: String) throws -> String {
      try PathPattern(pattern).path(
        PathPattern.Values(name: "photo", ext: ext, box: Box(), index: 1))
    }
    #expect(try path("out/{name}-{index}.{ext}", ext: "") == "out/photo-1")
    #expect(try path("out.{ext}/{name}", ext: "") == "out/photo")
    #expect(try path("{ext}-{name}.{ext}", ext: "gz") == "gz-photo.gz")
    #expect(try path("out/.{ext}", ext: "") == "out/.")
    #expect(try path("{ext}/{name}", ext: "") == "_/photo")
    #expect(try path("out/{ext}/{name}", ext: "") == "out/_/photo")
    #expect(try path("{ext}{ext}/{name}.{ext}", ext: "") == "_/photo")
    #expect(try path("out/{ext}", ext: "") == "out/_")
    #expect(try path("{ext}/{name}", ext: "/\u{301}x") == "_\u{301}x/photo")
  }

  @Test func `a name of a URL that is too long keeps its extension`() {
    let long = fileName(ofPath: "/" + String(repeating: "ä", count: 300) + ".jpeg")
    #expect(long.name == String(repeating: "ä", count: 88) && long.ext == "jpeg")
    let odd = fileName(ofPath: "/a." + String(repeating: "x", count: 5000))
    #expect(odd.name == "a" && odd.ext == String(repeating: "x", count: 30))
  }

  @Test func `a slash is one whatever follows it`() throws {
    let odd = fileName(ofPath: "/x/\u{301}y")
    #expect(odd.name == "\u{301}y" && odd.ext == "")
    #expect(try PathPattern("out/\u{301}{name}.{ext}").folder == "out/")
    #expect(folder(ofPath: "a/\u{301}b") == "a/")
    #expect(PathKey("a//./b") == PathKey("a/b") && PathKey("/a") != PathKey("a"))
    #expect(PathKey("caf\u{e9}") != PathKey("cafe\u{301}"))
  }

  @Test func `mistakes are told`() {
    #expect(
      fault("{nmae}.jpg")
        == "'to' has an unknown field '{nmae}', wanted one of {name}, {ext}, {width}, {height}, {index}; did you mean '{name}'?"
    )
    #expect(fault("a{name.jpg") == "'to' has a '{' without a '}': 'a{name.jpg'; '{{' is a brace")
    #expect(fault("a}.jpg") == "'to' has a '}' without a '{': 'a}.jpg'; '}}' is a brace")
    #expect(
      fault("out/")
        == "'to' wants a path that ends in a file's name, found 'out/'; for example 'out/{name}.{ext}'"
    )
  }
}
