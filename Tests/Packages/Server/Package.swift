// swift-tools-version: 6.1
// A server as a user of Trellis writes it: routes of Hummingbird, a model, a store on PostgreSQL.
import PackageDescription

let package = Package(
  name: "server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "trellis", path: "../../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.0.0"),
  ],
  targets: [
    .target(
      name: "Shop",
      dependencies: [
        .product(name: "Trellis", package: "trellis"),
        .product(name: "TrellisPostgres", package: "trellis"),
        .product(name: "TrellisSync", package: "trellis"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ],
      plugins: [.plugin(name: "TrellisPlugin", package: "trellis")]),
    .executableTarget(
      name: "shop-server", dependencies: ["Shop", .product(name: "Hummingbird", package: "hummingbird")]),
    .executableTarget(
      name: "shop-till",
      dependencies: [
        "Shop", .product(name: "Trellis", package: "trellis"), .product(name: "TrellisSync", package: "trellis"),
      ]),
    .testTarget(
      name: "ShopTests",
      dependencies: [
        "Shop", "shop-server", "shop-till",
        .product(name: "Trellis", package: "trellis"),
        .product(name: "TrellisSync", package: "trellis"),
        .product(name: "HummingbirdTesting", package: "hummingbird"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
