// What `download-and-resize` was asked for: sources, and the items that are made of each.

import BuiltinSteps
import Diagnostics

struct ThumbnailPlan: Sendable {
  /// A source, and the items that want it.
  struct Order: Sendable {
    let source: Source
    var items: [Item]
  }

  struct Item: Hashable, Sendable {
    /// In the results.
    let number: Int
    /// Fills `{name}`.
    let name: String
    /// Fills `{index}`: from 1 on.
    let index: Int
    /// Of those that want the same source; what came over the network is counted with it.
    var isFirst = true
  }

  var orders: [Order] = []
  var results: [ItemResult] = []

  /// The same URL twice is one item, unless `{index}` makes two results of it.
  init(
    _ sources: [Source], _ settings: ResizeSettings, _ step: BuiltinStep
  ) throws(UsageFailure) {
    var known: [Source: Int] = [:]
    var takers: [String: Source] = [:]
    for (index, source) in sources.enumerated() {
      let (name, ext) = fileName(ofPath: source.path)
      // The ending of the URL stands for the format, which shows only when the image is there.
      let path = settings.pattern.path(
        PathPattern.Values(name: name, ext: ext, box: settings.boxes[0], index: index + 1))
      if let taker = takers.updateValue(source, forKey: path) {
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
