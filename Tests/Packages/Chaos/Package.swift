// swift-tools-version: 6.1
// Programs that work on a store while its servers fail and its model changes. `chaos.py` starts them and the faults.
import PackageDescription

let trellis: [Target.Dependency] = [
  .product(name: "Trellis", package: "trellis"),
  .product(name: "TrellisPostgres", package: "trellis"),
]

/// The same program with a version of the model. Its source files are links to those of the first one.
func client(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["ChaosWork"] + trellis,
    plugins: [.plugin(name: "TrellisPlugin", package: "trellis")])
}

let package = Package(
  name: "chaos",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .target(name: "ChaosWork", dependencies: trellis),
    client("chaos-client"), client("chaos-client-2"), client("chaos-client-3"),
  ],
  swiftLanguageModes: [.v6]
)
