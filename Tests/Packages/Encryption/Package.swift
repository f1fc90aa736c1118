// swift-tools-version: 6.1
// Stores that are encrypted by libraries with a key, and what the programs that use them leave on the disk.
//
// `TRELLIS_TEST_CIPHER` is the path of a SQLite library with encryption, and `TRELLIS_TEST_CIPHER_NEEDS` that of one which has to be
// loaded before it; with `TRELLIS_TEST_CIPHER_TABLE` it is given as a table of functions. `.ci/ciphers` gets two such libraries.
// Without them the tests are skipped.
import PackageDescription

let trellis = Target.Dependency.product(name: "Trellis", package: "trellis")
let plugin = Target.PluginUsage.plugin(name: "TrellisPlugin", package: "trellis")

let package = Package(
  name: "encryption",
  platforms: [.macOS(.v15)],
  products: [.library(name: "StepKiller", type: .dynamic, targets: ["StepKiller"])],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    // A library as a program gives it by one C function.
    .target(
      name: "CCipherLibrary", dependencies: [.product(name: "TrellisSQLiteFunctions", package: "trellis")],
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "Ciphers", dependencies: [trellis, "CCipherLibrary"]),
    // Ends a process before one of its calls that change files.
    .target(name: "StepKiller", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // Works on a store by its arguments, and with the next version of its model.
    .executableTarget(name: "keeper", dependencies: ["Ciphers", trellis], plugins: [plugin]),
    .executableTarget(name: "keeper-next", dependencies: ["Ciphers", trellis], plugins: [plugin]),
    .testTarget(
      name: "EncryptionTests",
      dependencies: [
        "Ciphers", "StepKiller", "keeper", "keeper-next", trellis,
        .product(name: "TrellisStoreTesting", package: "trellis"),
      ],
      plugins: [plugin]),
  ],
  swiftLanguageModes: [.v6]
)
