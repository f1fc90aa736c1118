// swift-tools-version: 6.1
// A program that keeps its generated code and uses no plugin. `swift package trellis-generate` writes the file.
import PackageDescription

let package = Package(
  name: "checked-in",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .executableTarget(
      name: "notes", dependencies: [.product(name: "Trellis", package: "trellis")], exclude: ["Notes.model.json"])
  ]
)
