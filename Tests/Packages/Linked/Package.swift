// swift-tools-version: 6.1
// A program that is linked with SQLite, for systems without dynamic libraries.
import PackageDescription

let package = Package(
  name: "linked",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .executableTarget(
      name: "linked",
      dependencies: [
        .product(name: "Trellis", package: "trellis"), .product(name: "TrellisLinkedSQLite", package: "trellis"),
      ],
      plugins: [.plugin(name: "TrellisPlugin", package: "trellis")])
  ],
  swiftLanguageModes: [.v6]
)
