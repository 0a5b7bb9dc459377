// The remarks of listings about a step that does not always run.

import Plans

extension StepRemark {
  /// The remarks in the words of the file.
  var words: [String] { (isManual ? ["manual"] : []) + (isDefault ? ["default"] : []) }
}
