// swift-tools-version: 6.2
// Measures OperationKit beside Foundation, Dispatch and task groups. A package of its own, so that
// nobody who builds oprun has to build it. Scripts/bench operations runs it.

import PackageDescription

let package = Package(
  name: "operations-benchmark",
  dependencies: [.package(name: "oprun", path: "../..")],
  targets: [
    .executableTarget(
      name: "operations-benchmark",
      dependencies: [.product(name: "OperationKit", package: "oprun")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
