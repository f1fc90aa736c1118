// swift-tools-version: 6.1
// Files to copy into a program that uses Trellis with packages of others. Each is a target of its own, which shows what it needs.
import PackageDescription

let trellis = Target.Dependency.product(name: "Trellis", package: "trellis")

let package = Package(
  name: "integrations",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "trellis", path: "../../.."),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.0.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.0.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.0.0"),
  ],
  targets: [
    .target(name: "StoreLogging", dependencies: [trellis, .product(name: "Logging", package: "swift-log")]),
    .target(name: "StoreMetrics", dependencies: [trellis, .product(name: "Metrics", package: "swift-metrics")]),
    .target(
      name: "StoreTracing", dependencies: [trellis, .product(name: "Tracing", package: "swift-distributed-tracing")]),
    .target(
      name: "StoreService",
      dependencies: [trellis, .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")]),
    .target(name: "StoreHTTP", dependencies: [trellis]),
    .target(
      name: "Notes", dependencies: [trellis], plugins: [.plugin(name: "TrellisPlugin", package: "trellis")]),
    // The trait for Swift Testing is among the tests, where it is copied to.
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "Notes", "StoreLogging", "StoreMetrics", "StoreTracing", "StoreService", "StoreHTTP", trellis,
        .product(name: "TrellisTesting", package: "trellis"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      exclude: ["Notes.json"]),
  ],
  swiftLanguageModes: [.v6]
)
