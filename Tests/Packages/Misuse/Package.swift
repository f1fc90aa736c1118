// swift-tools-version: 6.1
// A model for the programs in Cases, which must not compile.
import PackageDescription

let package = Package(
  name: "misuse",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .target(
      name: "MisuseModel", dependencies: [.product(name: "Trellis", package: "trellis")],
      plugins: [.plugin(name: "TrellisPlugin", package: "trellis")])
  ],
  swiftLanguageModes: [.v6]
)
