// swift-tools-version: 6.1
// The same work done by hand-written SQLite (the floor), by GRDB and by Trellis. See Docs/Performance.md.
import PackageDescription

let trellis: Target.Dependency = .product(name: "Trellis", package: "trellis")
let trellisJSON: Target.Dependency = .product(name: "TrellisJSON", package: "trellis")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let generating: [Target.PluginUsage] = [.plugin(name: "TrellisPlugin", package: "trellis")]
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "trellis", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    // What all participants share: the data, the clock, the report.
    .target(name: "CMeasure"),
    .target(name: "Workload", dependencies: ["CMeasure"], swiftSettings: settings),

    // All workloads but the first fetch.
    .systemLibrary(name: "CSQLite3"),
    .executableTarget(name: "bench-sqlite", dependencies: ["Workload", "CSQLite3"], swiftSettings: settings),
    .executableTarget(name: "bench-grdb", dependencies: ["Workload", grdb], swiftSettings: settings),
    .target(name: "BenchModel", dependencies: [trellis], swiftSettings: settings, plugins: generating),
    .target(name: "HistoryModel", dependencies: ["BenchModel", trellis], swiftSettings: settings),
    .executableTarget(
      name: "bench-trellis", dependencies: ["Workload", "BenchModel", "HistoryModel", trellis, trellisJSON],
      swiftSettings: settings),

    // What a history takes and gives. The rows of writes are those of bench-trellis with BENCH_HISTORY.
    .executableTarget(
      name: "bench-history", dependencies: ["BenchModel", "HistoryModel", "CSQLite3", trellis], swiftSettings: settings),

    // What a fetch costs beside what SQLite does for it.
    .executableTarget(name: "fetch-overhead", dependencies: ["BenchModel", trellis], swiftSettings: settings),

    // The first fetch, in small programs of their own. A model of 200 entities takes minutes to compile, so that `swift run bench`
    // goes without that one: `swift build -c release` makes it.
    .executableTarget(name: "first-sqlite", dependencies: ["Workload", "CSQLite3"], swiftSettings: settings),
    .executableTarget(name: "first-grdb", dependencies: ["Workload", grdb], swiftSettings: settings),
    .target(name: "FirstFetch", dependencies: ["Workload", trellis], swiftSettings: settings),
    .target(name: "MediumModel", dependencies: [trellis], swiftSettings: settings, plugins: generating),
    .executableTarget(
      name: "first-trellis-50", dependencies: ["FirstFetch", "Workload", "MediumModel", trellis],
      swiftSettings: settings),
    .target(name: "WideModel", dependencies: [trellis], swiftSettings: settings, plugins: generating),
    .executableTarget(
      name: "first-trellis-200", dependencies: ["FirstFetch", "Workload", "WideModel", trellis], swiftSettings: settings
    ),

    // Reading nested JSON: a decoder, structs and upserts by hand, and an import. Tests/Benchmarks/import runs both.
    .executableTarget(name: "import-sqlite", dependencies: ["CSQLite3"], swiftSettings: settings),
    .target(name: "ImportModel", dependencies: [trellis], swiftSettings: settings, plugins: generating),
    .executableTarget(
      name: "import-trellis", dependencies: ["ImportModel", trellis, trellisJSON], swiftSettings: settings),

    // Runs them in turn. It needs the programs beside it, which `swift run` builds because they are named here.
    .executableTarget(
      name: "bench",
      dependencies: [
        "Workload", "bench-sqlite", "bench-grdb", "bench-trellis", "first-sqlite", "first-grdb", "first-trellis-50",
      ], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
