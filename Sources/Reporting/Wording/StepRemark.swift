// What listings say of a step that does not always run.

import Plans

extension StepRemark {
  /// In the words of the file.
  var words: [String] { (isManual ? ["manual"] : []) + (isDefault ? ["default"] : []) }
}
