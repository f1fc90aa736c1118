// swift-tools-version: 6.1
// What `TrellisUI` does where SwiftUI, UIKit and AppKit are, compiled and run where they are not: against modules with those of
// their declarations that it uses. The stubs have names of their own on disk, since `#if canImport(SwiftUI)` of every other
// target would find them otherwise; the compiler takes the one for the other. The targets of TrellisUI are links to its folder.
import PackageDescription

let trellis = Target.Dependency.product(name: "Trellis", package: "trellis")

/// Another module under the name of one that the sources import.
func alias(_ name: String, _ real: String) -> SwiftSetting { .unsafeFlags(["-module-alias", "\(name)=\(real)"]) }

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let swiftUI = alias("SwiftUI", "StubSwiftUI")
let uiKit = alias("UIKit", "StubUIKit")

let package = Package(
  name: "stubs",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .target(name: "StubSwiftUI", swiftSettings: settings),
    .target(name: "StubUIKit", swiftSettings: settings),
    .target(name: "StubAppKit", swiftSettings: settings),
    .target(
      name: "ScreensOfUIKit", dependencies: ["StubSwiftUI", "StubUIKit", trellis],
      swiftSettings: settings + [swiftUI, uiKit]),
    .target(
      name: "ScreensOfAppKit", dependencies: ["StubSwiftUI", "StubAppKit", trellis],
      swiftSettings: settings + [swiftUI, alias("AppKit", "StubAppKit")]),
    // An app as a user writes it, and a program that writes the same file.
    .target(name: "DiaryModel", dependencies: [trellis], plugins: [.plugin(name: "TrellisPlugin", package: "trellis")]),
    .target(
      name: "DiaryScreens", dependencies: ["DiaryModel", "ScreensOfUIKit", "StubSwiftUI", "StubUIKit", trellis],
      swiftSettings: [swiftUI, uiKit, alias("TrellisUI", "ScreensOfUIKit")]),
    .executableTarget(name: "diary-writer", dependencies: ["DiaryModel", trellis]),
    // The test library has overlays for UIKit and AppKit, so tests name the stubs.
    .testTarget(
      name: "ScreensTests",
      dependencies: [
        "DiaryModel", "DiaryScreens", "ScreensOfUIKit", "StubSwiftUI", "StubUIKit", "diary-writer", trellis,
      ],
      swiftSettings: [alias("TrellisUI", "ScreensOfUIKit")]),
    .testTarget(
      name: "AppKitTests", dependencies: ["DiaryModel", "ScreensOfAppKit", "StubAppKit", trellis],
      swiftSettings: [alias("TrellisUI", "ScreensOfAppKit")]),
  ],
  swiftLanguageModes: [.v6]
)
