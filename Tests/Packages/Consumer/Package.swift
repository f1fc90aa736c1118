// swift-tools-version: 6.2
// A package as a user of Trellis writes it: a path dependency, models, the plugin. Beside the library there is one program under
// each setting that people use, and models with every name that a model may have.
import PackageDescription

let trellis = Target.Dependency.product(name: "Trellis", package: "trellis")
let plugin = Target.PluginUsage.plugin(name: "TrellisPlugin", package: "trellis")

/// The program of `MainActorByDefault` under other settings; its files are links to those.
@MainActor func program(_ name: String, _ settings: [SwiftSetting]) -> Target {
  .executableTarget(name: name, dependencies: [trellis], swiftSettings: settings, plugins: [plugin])
}

let package = Package(
  name: "consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .target(name: "Library", dependencies: [trellis], plugins: [plugin]),
    .testTarget(name: "LibraryTests", dependencies: ["Library", trellis]),
    program(
      "MainActorByDefault",
      [
        .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
      ]),
    program("StrictMemorySafety", [.strictMemorySafety(), .unsafeFlags(["-Werror", "StrictMemorySafety"])]),
    program(
      "MemberImports",
      [
        .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
      ]),
    program("SwiftFive", [.swiftLanguageMode(.v5)]),
    // The interface, which SQLite's module map is no part of, is written for others to build on; here the code has to build and run.
    program(
      "LibraryEvolution", [.unsafeFlags(["-enable-library-evolution", "-no-verify-emitted-module-interface"])]),
    .target(name: "Names", dependencies: [trellis], plugins: [plugin]),
    .target(name: "EnumNames", dependencies: [trellis], plugins: [plugin]),
  ],
  swiftLanguageModes: [.v6]
)
