// Converts a confinement to paths that a kernel knows: outputs that do not exist yet get a place.
// docs/confined-steps.md, “What a pattern opens”.

import Glibc
import Plans
import RunFiles
import Running

struct ConfinementRules {
  private(set) var rules: [(path: String, access: RuleList.Access)] = []
  /// The rules for files whose names are not text.
  private(set) var oddRules: [(path: FileName, access: RuleList.Access)] = []
  private(set) var placeholders = Placeholders()

  /// `places` are those of `confinement.writable`; `found` are the files that its patterns of readable files name.
  init(_ confinement: Confinement, _ places: [WritablePlace], found: [FileName] = []) {
    let folders = places.filter { $0.kind != .file }
    for place in places {
      if place.isFile(inAnyOf: folders) {
        place.makeFolder(&placeholders)
      } else {
        addWritable(place)
      }
    }
    for path in confinement.readable { rules.append((path, .reading)) }
    for file in found {
      if let path = file.text {
        rules.append((path, .reading))
      } else {
        oddRules.append((file, .reading))
      }
    }
  }

  /// Adds a file that the command may write although no pattern names it.
  mutating func addFile(_ path: String) {
    placeholders.addFile(path)
    rules.append((path, .wholeFile))
  }

  mutating func mark() { placeholders.mark() }

  mutating func addFolder(_ path: String) { rules.append((path, .everything)) }

  private mutating func addWritable(_ place: WritablePlace) {
    place.make(&placeholders)
    rules.append((place.path, place.kind == .file ? .wholeFile : .everything))
  }
}
