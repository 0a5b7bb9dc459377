// swift-tools-version: 6.2
// The modules and what each may import: docs/design.md, "Modules".

import Foundation
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// For what no step does more than a few times: small instead of fast. docs/releasing.md, "Size".
let compact = settings + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = settings
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
  name: "oprun",
  products: [
    .executable(name: "oprun", targets: ["oprun"]),
    .executable(name: "oprun-steps", targets: ["oprun-steps"]),
    .library(name: "OperationKit", targets: ["OperationKit"]),
  ],
  targets: [
    .target(name: "CLinux"),
    // Needs the headers of libxxhash-dev.
    .target(name: "CChecksum"),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(
      name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // CLate loads libvips, libcurl and libcrypto when they are needed. Naming their packages would
    // also link them, so this is only the package whose headers have their own directory.
    .systemLibrary(name: "CVips", pkgConfig: "glib-2.0", providers: [.apt(["libvips-dev"])]),
    .target(name: "CConfinement"),
    .target(name: "CLate", dependencies: ["CVips"]),

    module("Diagnostics", [], compact),
    module("Scheduling"),
    module("Masking", ["Diagnostics"]),
    module("Processors", ["CLinux"]),
    module("OperationKit", ["CLinux", "Processors", "Scheduling"]),
    module("BuiltinSteps", ["Diagnostics"], compact),
    module("Expressions", ["Diagnostics"]),
    module("Plans", ["BuiltinSteps", "Diagnostics", "Expressions", "Scheduling", "CPCRE2"]),
    module(
      "Pipelines", ["BuiltinSteps", "Diagnostics", "Expressions", "Plans", "Scheduling", "CYAML"]),
    module("Formatting", ["CYAML", "Diagnostics"], compact),
    module("Processes", ["CLinux", "Diagnostics"]),
    module("RunFiles", ["Plans", "Scheduling", "Diagnostics", "CCrypto", "CLinux"], compact),
    module("Running", ["Plans", "Expressions", "Scheduling"], compact),
    module(
      "Caching",
      [
        "Plans", "Expressions", "RunFiles", "Scheduling", "Diagnostics", "Masking", "Processes",
        "CChecksum", "CLinux", "CCrypto",
      ], compact),
    module(
      "State",
      [
        "Plans", "Expressions", "RunFiles", "Scheduling", "Diagnostics", "Masking", "CSQLite",
        "CCrypto",
      ], compact),
    module(
      "Execution",
      [
        "Running", "Caching", "Plans", "Expressions", "RunFiles", "Scheduling", "Diagnostics",
        "Masking", "Processes", "Processors", "CLinux", "CCrypto",
      ], compact),
    module(
      "Reporting",
      ["Plans", "Expressions", "RunFiles", "Scheduling", "Diagnostics", "Masking", "CLinux"],
      compact),
    .executableTarget(
      name: "oprun",
      dependencies: [
        "BuiltinSteps", "CLinux", "Diagnostics", "Processes", "Processors", "Scheduling", "Masking",
        "Expressions", "Plans", "Pipelines", "Formatting", "RunFiles", "Caching", "Execution",
        "State", "Reporting",
      ],
      swiftSettings: compact),
    .executableTarget(
      name: "oprun-steps",
      dependencies: [
        "BuiltinSteps", "Diagnostics", "OperationKit", "Processors", "CLate", "CConfinement",
        "CLinux", "CZlib",
      ],
      swiftSettings: settings),

    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
    tests("DiagnosticsTests", ["Diagnostics", "TestSupport"]),
    tests("SchedulingTests", ["Scheduling", "TestSupport"]),
    tests("MaskingTests", ["Diagnostics", "Masking", "TestSupport"]),
    tests("OperationKitTests", ["OperationKit", "TestSupport"]),
    .target(
      name: "ExpressionSamples", dependencies: ["Diagnostics", "Expressions"],
      path: "Tests/ExpressionSamples", swiftSettings: settings),
    tests(
      "ExpressionsTests", ["Expressions", "ExpressionSamples", "Diagnostics", "TestSupport"]),
    tests(
      "PlansTests", ["Plans", "Expressions", "Scheduling", "Diagnostics", "TestSupport"]),
    tests(
      "PipelinesTests",
      [
        "Pipelines", "Plans", "Expressions", "ExpressionSamples", "BuiltinSteps", "Diagnostics",
        "Scheduling", "Formatting", "TestSupport",
      ]),
    tests("FormattingTests", ["Formatting", "TestSupport"]),
    tests("RunFilesTests", ["RunFiles", "Plans", "Scheduling", "Diagnostics"]),
    tests(
      "StateTests",
      ["State", "Plans", "Expressions", "RunFiles", "Scheduling", "Diagnostics", "TestSupport"]),
    tests("CachingTests", ["Caching", "Plans", "Expressions", "RunFiles", "CLinux"]),
    tests(
      "RunningTests",
      ["Running", "Plans", "Expressions", "Scheduling", "Diagnostics", "TestSupport"]),
    tests(
      "ExecutionTests",
      [
        "Execution", "Caching", "Pipelines", "Running", "Plans", "Expressions", "RunFiles",
        "Scheduling", "Diagnostics", "Masking", "CLinux", "oprun", "TestSupport",
      ]),
    tests(
      "ReportingTests",
      [
        "Reporting", "Plans", "RunFiles", "Scheduling", "Diagnostics", "Masking", "TestSupport",
      ]),
    tests(
      "oprunTests",
      [
        "oprun", "Caching", "Execution", "Plans", "Pipelines", "Processors", "Reporting",
        "Scheduling", "State",
      ]),
    .target(
      name: "CVipsTesting", dependencies: ["CVips"], path: "Tests/CVipsTesting",
      linkerSettings: [.linkedLibrary("vips"), .linkedLibrary("gobject-2.0")]),
    tests(
      "oprunStepsTests",
      [
        "oprun", "oprun-steps", "BuiltinSteps", "Diagnostics", "TestSupport", "CLate",
        "CVips", "CVipsTesting", "CConfinement", "CZlib",
      ]),
    tests("CaseTests", ["oprun", "oprun-steps", "Plans", "Scheduling", "TestSupport"]),
    .executableTarget(
      name: "observed-run", dependencies: ["Execution", "Pipelines", "Plans", "Scheduling"],
      path: "Tests/ObservedRun", swiftSettings: settings),
    tests("TeardownTests", ["oprun", "observed-run", "Diagnostics", "Processors", "TestSupport"]),
  ]
)

// SwiftPM looks for the system libraries of all targets of a package, used or not, and complains
// about missing ones. So if SwiftPM has fetched this package for another one, it contains only
// OperationKit, which needs none. A nested package is not a solution: SwiftPM fetches only packages
// at the root of a repository, and a package with a version must not depend on one by its path.
let surroundings = URL(fileURLWithPath: Context.packageDirectory).deletingLastPathComponent()
let repositories = surroundings.deletingLastPathComponent().appendingPathComponent("repositories")
if surroundings.lastPathComponent == "checkouts",
  FileManager.default.fileExists(atPath: repositories.path)
{
  let fetched: Set = ["CLinux", "Scheduling", "Processors", "OperationKit"]
  package.products.removeAll { $0.name != "OperationKit" }
  package.targets.removeAll { !fetched.contains($0.name) }
}
