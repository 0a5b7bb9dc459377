// The messages about images. All wording of processing is here. Callers that know the name of the
// image put it in front.

import CConfinement
import CLinux
import Diagnostics
import Glibc

extension ImageFailure {
  static func notAnImage(_ found: String, wanted: [ImageFormat]) -> ImageFailure {
    ImageFailure("found \(found), wanted \(list(wanted))", isOfContent: true)
  }

  static func formatNotAllowed(_ format: ImageFormat, wanted: [ImageFormat]) -> ImageFailure {
    ImageFailure(
      "found \(article(format)) image, wanted \(list(wanted)); "
        + "'formats: \(format.fileExtension)' allows it", isOfContent: true)
  }

  private static func article(_ format: ImageFormat) -> String {
    format == .avif ? "an \(format.label)" : "a \(format.label)"
  }

  private static func list(_ formats: [ImageFormat]) -> String {
    inWords(formats.map(\.label))
  }

  static func tooManyBytes(_ found: Int, most: Int) -> ImageFailure {
    ImageFailure("has \(found) bytes, wanted at most \(most)", isOfContent: true)
  }

  static func tooManyPixels(_ size: Size, frames: Int, most: Int) -> ImageFailure {
    let found = frames > 1 ? "\(frames) frames of \(size.words)" : size.words
    return ImageFailure("has \(found) pixels, wanted at most \(most) in all", isOfContent: true)
  }

  static func sideTooLong(_ size: Size, most: Int) -> ImageFailure {
    ImageFailure("has \(size.words) pixels, wanted at most \(most) on a side", isOfContent: true)
  }

  static func resultTooLarge(_ size: Size, most: Int) -> ImageFailure {
    ImageFailure("would become \(size.words) pixels, wanted at most \(most) in all")
  }

  static func resultTooLarge(_ size: Size, for format: ImageFormat) -> ImageFailure {
    ImageFailure(
      "would become \(size.words) pixels, wanted at most \(format.mostPixels) for \(format.label)")
  }

  static func tooManyScans(most: Int) -> ImageFailure {
    ImageFailure("is a progressive JPEG of more than \(most) scans", isOfContent: true)
  }

  /// `details` is the message of the decoder, which can quote the file.
  static func cannotDecode(_ format: ImageFormat, _ details: String) -> ImageFailure {
    ImageFailure("cannot be read as \(format.label): \(printable(details))", isOfContent: true)
  }

  static func cannotEncode(_ format: ImageFormat, _ details: String) -> ImageFailure {
    ImageFailure("cannot be written as \(format.label): \(printable(details))")
  }

  static func noSpace(_ format: ImageFormat) -> ImageFailure {
    .cannotEncode(format, "no space left on device")
  }

  static func noLibrary(_ reason: String) -> ImageFailure {
    ImageFailure("libvips cannot be used: \(printable(reason))")
  }

  static func noCodec(_ format: ImageFormat) -> ImageFailure {
    ImageFailure("this libvips does not know \(format.label)")
  }

  static let tooSlow = "took longer than allowed"

  static func timedOut(milliseconds: Int) -> ImageFailure {
    let seconds = milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    return ImageFailure("\(tooSlow): more than \(seconds)", isOfContent: true)
  }

  static func outOfProcessorTime(seconds: Int) -> ImageFailure {
    ImageFailure("\(tooSlow): more than \(seconds)s of processor time", isOfContent: true)
  }

  static func workerDied(signal: Int32) -> ImageFailure {
    // SIGKILL comes from outside, for instance for lack of memory on the machine.
    ImageFailure(
      "the process that decoded it was killed by \(signalName(signal))",
      isOfContent: signal != SIGKILL)
  }

  static func workerExited(status: Int32) -> ImageFailure {
    ImageFailure("the process that decoded it ended with status \(status)", isOfContent: true)
  }

  static func zygoteDied(_ times: Int) -> ImageFailure {
    ImageFailure("the process that starts the image decoders has died \(times) times")
  }

  static func pathIsTaken(_ path: String, by owner: String) -> ImageFailure {
    ImageFailure("would be written to \(quoted(path)), as \(quoted(owner)) is")
  }

  static let isFolder = ImageFailure(
    "is a directory, wanted a file; 'DIR/*' takes the files in it")
  static let noFile = ImageFailure("is not a file")
  static let workerSpokeNonsense = ImageFailure("the process that decoded it gave a wrong answer")
  static let cancelled = ImageFailure("cancelled")

  static func system(_ error: SystemError) -> ImageFailure { ImageFailure(error.message) }

  /// The text on one line without control characters, of limited length.
  private static func printable(_ text: String) -> String {
    let line = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
    return String(String.UnicodeScalarView(line.prefix(200)))
  }
}

/// `status` is that of wait(2).
func wordsForLostZygote(status: Int32) -> String {
  let how =
    clinux_exited(status) == 0
    ? "was killed by \(signalName(clinux_signal(status)))"
    : "ended with status \(clinux_exit_status(status))"
  return
    "the process that starts the image decoders \(how); it is started again, and the images "
    + "in progress are decoded again"
}

/// The notice; nil if nothing is missing that a kernel can grant.
func wordsForLack(of layers: Int) -> String? {
  let wanted = [(confinement_files, "Landlock"), (confinement_calls, "seccomp")]
  let missing = wanted.filter { layers & Int($0.0.rawValue) == 0 }.map { "no \($0.1)" }
  guard !missing.isEmpty else { return nil }
  return
    "the kernel grants \(inWords(missing, last: "and")): image decoders are less confined; "
    + "'oprun-steps confinement' shows how far"
}

extension Size {
  var words: String { "\(width) × \(height)" }
}
