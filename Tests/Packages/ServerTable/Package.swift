// swift-tools-version: 6.1
// Times calls of a store on PostgreSQL beside SQL and C by hand. `table.py` fills a server and runs both.
import PackageDescription

let package = Package(
  name: "server-table",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "trellis", path: "../../..")],
  targets: [
    .executableTarget(
      name: "table",
      dependencies: [
        .product(name: "Trellis", package: "trellis"),
        .product(name: "TrellisPostgres", package: "trellis"),
      ],
      plugins: [.plugin(name: "TrellisPlugin", package: "trellis")])
  ],
  swiftLanguageModes: [.v6]
)
