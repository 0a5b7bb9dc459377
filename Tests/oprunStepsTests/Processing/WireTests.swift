// Requests and answers are transferred correctly between processes; invalid messages are refused.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct WireTests {
  private let result = ResultSpec(
    box: Box(width: 300), fit: .cover, format: .webp, quality: 42, strip: false,
    background: Color(red: 1, green: 2, blue: 3, alpha: 4))

  @Test func `requests arrive as they were`() {
    let jobs: [ImageJob] = [
      .resize(
        format: .gif, allFrames: true, [result, ResultSpec(box: Box(height: 9), format: .png)]),
      .measure(format: .png),
      .draw(format: .jpeg, Cell(size: Size(3, 4), left: 5, top: 6), canvasWidth: 7),
      .encode(canvas: Size(8, 9), result), .tryConfinement,
    ]
    for job in jobs {
      let limits = ImageLimits(pixels: 1, side: 2, bytes: 3, scans: 4, milliseconds: 5)
      let request = ImageRequest(job: job, limits: limits)
      #expect(ImageRequest(numbers: request.numbers) == request)
    }
  }

  @Test func `answers arrive as they were`() {
    let answers: [ImageAnswer] = [
      .done([]), .done([ImageFacts(size: Size(1, 2), frames: 3, bytes: 4)]),
      .confinement(layers: 7, landlockVersion: 3, refusals: [1, 0, 13]),
      .ready(layers: 5), .fault(ImageFailure("")), .fault(ImageFailure("×")),
      .fault(ImageFailure("eight by")),
      .fault(ImageFailure("a longer message, with ümlauts", isOfContent: true)),
    ]
    for answer in answers { #expect(ImageAnswer(numbers: answer.numbers) == answer) }
  }

  @Test func `a message of which a part is missing is no message`() {
    let request = ImageRequest(
      job: .resize(format: .gif, allFrames: true, [result]), limits: ImageLimits())
    for count in request.numbers.indices {
      #expect(ImageRequest(numbers: Array(request.numbers.prefix(count))) == nil)
    }
  }

  @Test func `no message of strange numbers is a trap`() {
    var state: UInt64 = 7
    for _ in 0..<20_000 {
      let numbers = (0..<12).map { _ -> Int64 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let choices: [Int64] = [
          0, 1, 2, 3, 4, -1, .min, .max, 64, 65, Int64(bitPattern: state), 2048,
        ]
        return choices[Int(state >> 33) % choices.count]
      }
      _ = ImageRequest(numbers: numbers)
      _ = ImageAnswer(numbers: numbers)
    }
  }

  @Test func `a long text is cut`() {
    let fault = ImageAnswer.fault(ImageFailure(String(repeating: "x", count: 5000)))
    let cut = ImageAnswer.fault(ImageFailure(String(repeating: "x", count: 2048)))
    #expect(ImageAnswer(numbers: fault.numbers) == cut)
  }
}

@Suite(.blocking) struct ColorTests {
  @Test func `colours are read as people write them`() {
    #expect(Color("#0a141e") == Color(red: 10, green: 20, blue: 30))
    #expect(Color("#0A141E28") == Color(red: 10, green: 20, blue: 30, alpha: 40))
    #expect(Color("#fff") == Color("white"))
    #expect(Color("Transparent")?.alpha == 0)
    for wrong in ["", "#", "#12", "#12345", "0a141e", "#gggggg", "whit"] {
      #expect(Color(wrong) == nil)
    }
  }
}
