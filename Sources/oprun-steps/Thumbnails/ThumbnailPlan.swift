// The inputs of `download-and-resize`: sources, and the items that are made from each.

import BuiltinSteps
import Diagnostics

struct ThumbnailPlan: Sendable {
  /// A source, and the items that want it.
  struct Order: Sendable {
    let source: Source
    var items: [Item]
  }

  struct Item: Hashable, Sendable {
    /// The number in the results.
    let number: Int
    /// The value of `{name}`.
    let name: String
    /// The value of `{index}`, counted from 1.
    let index: Int
    /// True if this is the first item of those that want the same source; bytes received over the
    /// network count for it.
    var isFirst = true
  }

  var orders: [Order] = []
  var results: [ItemResult] = []

  /// Makes a plan. The same URL twice is one item, unless `{index}` makes two results of it.
  init(
    _ sources: [Source], _ settings: ResizeSettings, _ step: BuiltinStep
  ) throws(UsageFailure) {
    var known: [Source: Int] = [:]
    var takers: [PathKey: Source] = [:]
    for (index, source) in sources.enumerated() {
      let (name, ext) = fileName(ofPath: source.path)
      // The extension of the URL stands for the format, which is known only when the image is
      // there.
      let path = settings.pattern.path(
        PathPattern.Values(name: name, ext: ext, box: settings.boxes[0], index: index + 1))
      if let taker = takers.updateValue(source, forKey: PathKey(path)) {
        if taker == source { continue }
        throw .sameTarget(path, step.name)
      }
      var item = Item(number: results.count, name: name, index: index + 1)
      results.append(ItemResult(origin: source.shown))
      if let order = known[source] {
        item.isFirst = false
        orders[order].items.append(item)
      } else {
        known[source] = orders.count
        orders.append(Order(source: source, items: [item]))
      }
    }
  }
}
