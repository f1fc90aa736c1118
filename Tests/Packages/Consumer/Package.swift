// swift-tools-version: 6.1
// A package as a user of Trellis writes it: a path dependency, a model, the plugin.
import PackageDescription

let package = Package(
  name: "consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .target(
      name: "Library", dependencies: [.product(name: "Trellis", package: "trellis")],
      plugins: [.plugin(name: "TrellisPlugin", package: "trellis")]),
    .testTarget(name: "LibraryTests", dependencies: ["Library", .product(name: "Trellis", package: "trellis")]),
  ],
  swiftLanguageModes: [.v6]
)
