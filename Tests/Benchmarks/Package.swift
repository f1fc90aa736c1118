// swift-tools-version: 6.1
// The same work done by hand-written SQLite (the floor), by GRDB and by Trellis. See Docs/Performance.md.
import PackageDescription

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "trellis", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite3"),
    .target(name: "Workload"),
    .executableTarget(name: "bench-sqlite", dependencies: ["Workload", "CSQLite3"]),
    .executableTarget(name: "bench-grdb", dependencies: ["Workload", .product(name: "GRDB", package: "GRDB.swift")]),
    .target(
      name: "BenchModel", dependencies: [.product(name: "Trellis", package: "trellis")],
      plugins: [.plugin(name: "TrellisPlugin", package: "trellis")]),
    .executableTarget(
      name: "bench-trellis",
      dependencies: ["Workload", "BenchModel", .product(name: "Trellis", package: "trellis")]),
    .executableTarget(name: "bench"),
  ],
  swiftLanguageModes: [.v5]
)
