// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// What `Trellis` exports. SwiftPM compiles a target again when a module has changed that it depends on by name, and `Trellis` does
// not change with these, so a target that depends on it depends on them as well.
let exported = ["TrellisModel", "TrellisStorage", "TrellisRuntime"]

// Whether another package has resolved this one. It then gets what it can import and nothing else: SwiftPM would build the
// generator for the models of the samples before anything of the program, even if the program uses no plugin.
let isResolvedDependency = ["/.build/checkouts/", "/SourcePackages/checkouts/", "/registry/downloads/"]
  .contains { Context.packageDirectory.contains($0) }

var package = Package(
  name: "trellis",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Trellis", targets: ["Trellis"] + exported),
    .library(name: "TrellisUI", targets: ["TrellisUI"]),
    .library(name: "TrellisFoundationPredicates", targets: ["TrellisFoundationPredicates"]),
    .library(name: "TrellisStorage", targets: ["TrellisModel", "TrellisStorage"]),
    .library(name: "TrellisJSON", targets: ["TrellisJSON"]),
    .library(name: "TrellisCSV", targets: ["TrellisCSV"]),
    .library(name: "TrellisStoreTesting", targets: ["TrellisStoreTesting"]),
    .library(name: "TrellisTesting", targets: ["TrellisTesting"]),
    .library(name: "TrellisCoreData", targets: ["TrellisCoreData"]),
    .library(name: "TrellisAdoption", targets: ["TrellisAdoption"]),
    .library(name: "TrellisPostgres", targets: ["TrellisPostgres"]),
    .library(name: "TrellisTimeTravel", targets: ["TrellisTimeTravel"]),
    .library(name: "TrellisSync", targets: ["TrellisSync"]),
    .library(name: "TrellisPostgresAdoption", targets: ["TrellisPostgresAdoption"]),
    .library(name: "TrellisLinkedSQLite", targets: ["TrellisLinkedSQLite"]),
    .library(name: "TrellisSQLiteFunctions", targets: ["CSQLiteFunctions"]),
    .plugin(name: "TrellisPlugin", targets: ["TrellisPlugin"]),
    .plugin(name: "TrellisGenerate", targets: ["TrellisGenerate"]),
    .executable(name: "trellis", targets: ["TrellisTool"]),
    .plugin(name: "TrellisCommand", targets: ["TrellisCommand"]),
  ],
  targets: [
    // Arrows point one way: down this list.

    // What loads libraries of the system, and the one that has SHA-256.
    .target(name: "CLibrary", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux, .android]))]),
    .target(name: "CDigest", dependencies: ["CLibrary"]),

    // The description of a model, predicates and their evaluation. The build tool compiles these too.
    .target(name: "TrellisModel", dependencies: ["CDigest"], swiftSettings: settings),

    // Model files: their grammar and its checks, for the build tool and the program.
    .target(name: "TrellisModelFile", dependencies: ["TrellisModel"], swiftSettings: settings),

    // What a store has to do, and the embedded stores: SQLite and memory. None of them knows the object graph.
    // The functions of SQLite are listed where a program with a build of its own finds them.
    .target(name: "CSQLiteFunctions"),
    .target(name: "CSQLite", dependencies: ["CLibrary", "CSQLiteFunctions"]),
    .target(
      name: "TrellisStorage", dependencies: ["CSQLite", "TrellisModel"], swiftSettings: settings),

    // The library that the program is linked with. Nothing of this package depends on it, so nothing here is linked with it.
    .target(
      name: "CLinkedSQLite", dependencies: ["CSQLiteFunctions"], linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(
      name: "TrellisLinkedSQLite", dependencies: ["CLinkedSQLite", "TrellisModel", "TrellisStorage"],
      swiftSettings: settings),

    // The object graph. It knows no store but by the contract.
    .target(name: "TrellisRuntime", dependencies: ["TrellisModel", "TrellisStorage"], swiftSettings: settings),

    // The store in a JSON document, and nested JSON of others, in and out. Programs that use it import it beside `Trellis`.
    .target(
      name: "TrellisJSON", dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime"], swiftSettings: settings),

    // Tables in CSV, in and out. Programs that use it import it beside `Trellis`.
    .target(
      name: "TrellisCSV", dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime", "TrellisJSON"],
      swiftSettings: settings),

    // What people import.
    .target(name: "Trellis", dependencies: exported.map { .byName(name: $0) }, swiftSettings: settings),

    // What screens keep: lists, forms, their state; and views for SwiftUI, UIKit and AppKit, where these are. Programs that use
    // it import it beside `Trellis`. Its sources are compiled in Tests/Packages/Stubs as well, so they use what is public.
    .target(name: "TrellisUI", dependencies: ["Trellis"], swiftSettings: settings),

    // The rules that every store obeys, as cases to run against one.
    .target(name: "TrellisStoreTesting", dependencies: ["TrellisModel", "TrellisStorage"], swiftSettings: settings),

    // Data for tests and previews of programs: fixtures, and random objects. It does not need Swift Testing.
    .target(
      name: "TrellisTesting",
      dependencies: [
        "TrellisModel", "TrellisModelFile", "TrellisStorage", "TrellisRuntime", "TrellisJSON", "TrellisDynamic",
      ],
      swiftSettings: settings),

    // Undo of past saves, objects as they were, and what differs between two moments. Programs that use it import it beside
    // `Trellis`.
    .target(
      name: "TrellisTimeTravel", dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime"],
      swiftSettings: settings),

    // Foundation's `#Predicate` as one more way of writing a predicate. Programs that use it import it beside `Trellis`.
    .target(
      name: "TrellisFoundationPredicates",
      dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime"],
      swiftSettings: settings),

    // The build tool: built from source by every user before their first file compiles, so kept small.
    .target(name: "TrellisGenerator", dependencies: ["TrellisModel"], swiftSettings: settings),
    .executableTarget(
      name: "trellis-gen", dependencies: ["TrellisModel", "TrellisModelFile", "TrellisGenerator"],
      swiftSettings: settings),
    .plugin(name: "TrellisPlugin", capability: .buildTool(), dependencies: ["trellis-gen"]),

    // The same by hand, for those who keep generated code in their repository.
    .plugin(
      name: "TrellisGenerate",
      capability: .command(
        intent: .custom(verb: "trellis-generate", description: "Writes the Swift files of models beside the models."),
        permissions: [.writeToPackageDirectory(reason: "The generated Swift file lies beside its model.")]),
      dependencies: ["trellis-gen"]),

    // SQLite files that other programs have written.
    .target(name: "TrellisForeignFiles", dependencies: ["CSQLite"], swiftSettings: settings),

    // Core Data's models and stores, for the program and for apps that bring their data along. They import it beside `Trellis`.
    .target(
      name: "TrellisCoreData",
      dependencies: ["TrellisForeignFiles", "TrellisModel", "TrellisModelFile", "TrellisStorage"],
      swiftSettings: settings),

    // Databases of any origin as models and stores. Programs that use it import it beside `Trellis`.
    .target(
      name: "TrellisAdoption",
      dependencies: ["TrellisForeignFiles", "TrellisModel", "TrellisModelFile", "TrellisStorage"],
      swiftSettings: settings),

    // The store on a PostgreSQL server. Programs that use it import it beside `Trellis`.
    .target(
      name: "CPQ", dependencies: ["CLibrary"], linkerSettings: [.linkedLibrary("Ws2_32", .when(platforms: [.windows]))]),
    .target(
      name: "TrellisPostgres", dependencies: ["CPQ", "TrellisModel", "TrellisStorage"],
      swiftSettings: settings),

    // Databases on a PostgreSQL server as models and stores.
    .target(
      name: "TrellisPostgresAdoption",
      dependencies: [
        "TrellisAdoption", "TrellisForeignFiles", "TrellisModelFile", "TrellisPostgres", "TrellisStorage",
      ],
      swiftSettings: settings),

    // Objects of a model that is known only at run time, and local pages about a store.
    .target(
      name: "TrellisDynamic", dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime"],
      swiftSettings: settings),
    .target(
      name: "TrellisBrowser",
      dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime", "TrellisDynamic", "TrellisTimeTravel"],
      swiftSettings: settings),

    // Replicas that work without each other, and a server that keeps them equal. Programs that use it import it beside
    // `Trellis`.
    .target(
      name: "TrellisSync",
      dependencies: ["TrellisModel", "TrellisStorage", "TrellisRuntime", "TrellisDynamic", "TrellisTimeTravel"],
      swiftSettings: settings),

    // Pictures of models.
    .target(name: "TrellisDiagram", dependencies: ["TrellisModel"], swiftSettings: settings),

    // The program for people and scripts. It is built when it or its plugin is run, and not for the library. Its module is not
    // called `trellis`: disks without case would take its build folder for that of `Trellis`.
    .executableTarget(
      name: "TrellisTool",
      dependencies: [
        "TrellisModel", "TrellisModelFile", "TrellisStorage", "TrellisJSON", "TrellisCSV", "TrellisRuntime",
        "TrellisDynamic", "TrellisBrowser", "TrellisDiagram", "TrellisCoreData", "TrellisAdoption", "TrellisPostgres",
        "TrellisPostgresAdoption", "TrellisSync", "TrellisTesting", "TrellisTimeTravel",
      ],
      path: "Sources/trellis-tool", swiftSettings: settings),
    .plugin(
      name: "TrellisCommand",
      capability: .command(
        intent: .custom(verb: "trellis", description: "Checks, draws and keeps models, and works on stores."),
        permissions: [.writeToPackageDirectory(reason: "Models are formatted, and released versions lie beside them.")]),
      dependencies: ["TrellisTool"]),
  ],
  swiftLanguageModes: [.v6]
)

if !isResolvedDependency {
  package.products += [
    .executable(name: "diary", targets: ["TrellisDiary"]),
    .executable(name: "dex", targets: ["TrellisDex"]),
  ]
  package.targets += [
    // Sample models and the programs that use them. The names of targets have to be unique among all packages of a program,
    // so these leave the short ones to whoever depends on this package.
    .target(
      name: "TrellisDiaryModel", dependencies: ["Trellis"], path: "Models/Diary", swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .target(
      name: "TrellisInnerInterviewModel", dependencies: ["Trellis"], path: "Models/InnerInterview",
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .target(
      name: "TrellisReceiptMindModel", dependencies: ["Trellis"], path: "Models/ReceiptMind",
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .executableTarget(
      name: "TrellisDiary", dependencies: ["TrellisDiaryModel", "Trellis"], path: "Sources/diary",
      swiftSettings: settings),
    .target(
      name: "TrellisDexModel", dependencies: ["Trellis"], path: "Models/Dex", swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .executableTarget(
      name: "TrellisDex", dependencies: ["TrellisDexModel", "Trellis", "TrellisJSON"], path: "Sources/dex",
      swiftSettings: settings),

    // What several test targets need: places on disk, numbers that a seed brings again.
    .target(
      name: "TrellisTestSupport",
      dependencies: ["TrellisJSON", "TrellisPostgres", "Trellis", "TrellisModel", "TrellisStorage", "CSQLite"],
      path: "Tests/TrellisTestSupport", swiftSettings: settings),
    // Has a PostgreSQL server until it ends, in the way that a test tells it.
    .executableTarget(
      name: "TrellisClusterProcess", dependencies: ["TrellisTestSupport"], path: "Tests/TrellisClusterProcess",
      swiftSettings: settings),
    .testTarget(
      name: "TrellisTestSupportTests", dependencies: ["TrellisTestSupport", "TrellisClusterProcess", "TrellisModel"],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisModelTests", dependencies: ["TrellisTestSupport", "TrellisModel", "TrellisStorage"],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisStorageTests",
      dependencies: [
        "TrellisJSON", "TrellisTestSupport", "TrellisStoreTesting", "TrellisStorage", "CSQLite", "TrellisModel",
        "TrellisModelFile",
      ],
      exclude: ["JSON/Golden"], swiftSettings: settings),
    .testTarget(
      name: "TrellisMigrationTests",
      dependencies: [
        "TrellisTestSupport", "TrellisStorage", "TrellisModel", "TrellisModelFile", "TrellisJSON", "TrellisPostgres",
        "TrellisRuntime", "TrellisDynamic", "TrellisTesting", "CSQLite",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisGeneratorTests",
      dependencies: ["TrellisTestSupport", "Trellis", "TrellisModel", "TrellisModelFile", "TrellisGenerator"],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisModelFileTests",
      dependencies: ["TrellisTestSupport", "TrellisModel", "TrellisModelFile", "TrellisGenerator"],
      exclude: ["Cases", "Good"],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisToolTests",
      dependencies: [
        "TrellisTestSupport", "TrellisTool", "TrellisModel", "TrellisModelFile", "TrellisStorage", "TrellisJSON",
      ],
      exclude: ["Described", "Guide", "Types"], swiftSettings: settings),
    .testTarget(
      name: "TrellisCoreDataTests",
      dependencies: [
        "TrellisTestSupport", "TrellisForeignFiles", "TrellisCoreData", "TrellisModel", "TrellisModelFile",
        "TrellisStorage", "TrellisJSON",
        "TrellisGenerator", "TrellisDynamic", "TrellisRuntime", "CSQLite",
      ],
      exclude: ["Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "TrellisAdoptionTests",
      dependencies: [
        "TrellisTestSupport", "TrellisAdoption", "TrellisForeignFiles", "TrellisPostgresAdoption", "TrellisModel",
        "TrellisModelFile",
        "TrellisStorage", "TrellisGenerator", "CSQLite",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisPostgresTests",
      dependencies: [
        "TrellisTestSupport", "TrellisStoreTesting", "TrellisPostgres", "Trellis", "TrellisRuntime", "TrellisStorage",
        "TrellisModel", "TrellisModelFile", "TrellisDynamic",
      ],
      exclude: [
        "Functions/fold.sql", "Functions/make_functions.py", "Functions/numbers.sql", "Functions/print_tables.swift",
        "Functions/search.sql", "Statements/PostgreSQL.txt", "Statements/SQLite.txt",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisDynamicTests",
      dependencies: [
        "TrellisTestSupport", "TrellisStoreTesting", "TrellisDynamic", "Trellis", "TrellisRuntime", "TrellisStorage",
        "TrellisModel", "TrellisModelFile", "TrellisJSON", "TrellisTesting",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisTestingTests",
      dependencies: [
        "TrellisTestSupport", "TrellisTesting", "Trellis", "TrellisDiaryModel", "TrellisReceiptMindModel",
        "TrellisRuntime", "TrellisDynamic", "TrellisStorage", "TrellisModel", "TrellisModelFile",
      ],
      exclude: ["Diaries.json"], swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisImportTests",
      dependencies: [
        "TrellisTestSupport", "Trellis", "TrellisJSON", "TrellisCSV", "TrellisTesting", "TrellisDynamic",
        "TrellisRuntime",
        "TrellisStorage", "TrellisModel", "TrellisModelFile",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisHistoryTests",
      dependencies: [
        "TrellisPostgres", "TrellisTestSupport", "Trellis", "TrellisTimeTravel", "TrellisDynamic", "TrellisRuntime",
        "TrellisStorage", "TrellisModel", "TrellisModelFile",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisSyncTests",
      dependencies: [
        "TrellisTestSupport", "TrellisSync", "Trellis", "TrellisDynamic", "TrellisRuntime", "TrellisStorage",
        "TrellisModel", "TrellisModelFile",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisDiagramTests",
      dependencies: ["TrellisTestSupport", "TrellisDiagram", "TrellisModel", "TrellisModelFile"],
      exclude: ["Golden"], swiftSettings: settings),
    .testTarget(
      name: "TrellisBrowserTests",
      dependencies: [
        "TrellisTestSupport", "TrellisBrowser", "TrellisDynamic", "TrellisRuntime", "TrellisStorage", "TrellisJSON",
        "TrellisModel", "TrellisModelFile",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisRuntimeTests",
      dependencies: [
        "TrellisJSON", "TrellisPostgres", "TrellisTestSupport", "Trellis", "TrellisDiaryModel", "TrellisRuntime",
        "TrellisStorage",
      ],
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisStoryTests",
      dependencies: [
        "TrellisJSON",
        "TrellisTestSupport", "TrellisTimeTravel", "Trellis", "TrellisDexModel", "TrellisDiaryModel",
        "TrellisInnerInterviewModel",
        "TrellisReceiptMindModel",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisEdgeTests", dependencies: ["TrellisTestSupport", "Trellis", "TrellisModel", "TrellisStorage"],
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisGraphTests",
      dependencies: ["TrellisTestSupport", "Trellis", "TrellisRuntime", "TrellisModel", "TrellisStorage"],
      exclude: ["Writers/Reports.txt"],
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisStepTests",
      dependencies: [
        "TrellisTestSupport", "Trellis", "TrellisRuntime", "TrellisStorage", "TrellisModel", "TrellisModelFile",
        "TrellisJSON", "TrellisPostgres", "TrellisTesting",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisLiveTests", dependencies: ["TrellisTestSupport", "Trellis", "TrellisRuntime"],
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisUITests",
      dependencies: ["TrellisTestSupport", "Trellis", "TrellisUI", "TrellisDiaryModel", "TrellisReceiptMindModel"],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisRefusalTests",
      dependencies: ["TrellisTestSupport", "Trellis", "TrellisRuntime", "TrellisModel", "TrellisStorage"],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisRequestTests", dependencies: ["TrellisJSON", "TrellisTestSupport", "Trellis"],
      exclude: ["Dates/Moments.txt", "Dates/make_moments.py", "Languages/Names.json", "Languages/make_names.py"],
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisValueTests",
      dependencies: [
        "TrellisTestSupport", "Trellis", "TrellisFoundationPredicates", "TrellisJSON", "TrellisDynamic",
        "TrellisRuntime",
        "TrellisStorage", "TrellisModel", "TrellisModelFile",
      ],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    // Writes a file as it is told on its standard input; tests start several of it on one file.
    .executableTarget(
      name: "TrellisWriterProcess", dependencies: ["Trellis", "TrellisPostgres"], path: "Tests/TrellisWriterProcess",
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    // Chooses the SQLite library of its process by its arguments.
    .target(
      name: "CTestLibrary", dependencies: ["CSQLiteFunctions"], path: "Tests/CTestLibrary",
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux, .android]))]),
    .executableTarget(
      name: "TrellisLibraryProcess", dependencies: ["CTestLibrary", "Trellis"], path: "Tests/TrellisLibraryProcess",
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisProcessTests",
      dependencies: ["TrellisTestSupport", "TrellisWriterProcess", "TrellisLibraryProcess", "Trellis"],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisFoundationPredicatesTests",
      dependencies: ["Trellis", "TrellisFoundationPredicates", "TrellisRuntime", "TrellisDiaryModel"],
      swiftSettings: settings, plugins: ["TrellisPlugin"]),
    // Saves until it is killed; a test starts and kills it.
    .executableTarget(
      name: "TrellisSaveLoop", dependencies: ["TrellisJSON", "Trellis"], path: "Tests/TrellisSaveLoop",
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    // Migrates a file; a test starts and kills it.
    .executableTarget(
      name: "TrellisMigrationProcess", dependencies: ["TrellisStorage", "TrellisModel", "TrellisModelFile"],
      path: "Tests/TrellisMigrationProcess", swiftSettings: settings),
    .executableTarget(
      name: "TrellisDocumentTimes", dependencies: ["TrellisJSON", "TrellisStorage", "TrellisModel"],
      path: "Tests/TrellisDocumentTimes", swiftSettings: settings),
    // Times a store on a server beside the same work by hand.
    .executableTarget(
      name: "TrellisServerTimes",
      dependencies: ["CPQ", "TrellisTestSupport", "TrellisPostgres", "Trellis", "TrellisStorage"],
      path: "Tests/TrellisServerTimes", swiftSettings: settings, plugins: ["TrellisPlugin"]),
    .executableTarget(
      name: "TrellisMigrationTimes", dependencies: ["TrellisStorage", "TrellisModel", "CSQLite"],
      path: "Tests/TrellisMigrationTimes", swiftSettings: settings),
    // A disk for SQLite that tells a test of each write and each sync, and fails where the test wants it.
    .target(name: "CTestDisk", dependencies: ["CSQLite"], path: "Tests/CTestDisk"),
    // Saves large data until it is killed.
    .executableTarget(
      name: "TrellisPictureLoop", dependencies: ["TrellisJSON", "Trellis"], path: "Tests/TrellisPictureLoop",
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisExternalTests",
      dependencies: [
        "TrellisJSON",
        "TrellisTestSupport", "TrellisPictureLoop", "Trellis", "TrellisStorage", "TrellisModel", "CSQLite",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TrellisReliabilityTests",
      dependencies: [
        "TrellisJSON",
        "TrellisTestSupport", "TrellisSaveLoop", "TrellisPictureLoop", "TrellisMigrationProcess", "Trellis", "CSQLite",
        "CTestDisk",
        "TrellisModel", "TrellisStorage", "TrellisModelFile",
      ],
      swiftSettings: settings,
      plugins: ["TrellisPlugin"]),
    .testTarget(
      name: "TrellisStoreTests",
      dependencies: [
        "TrellisJSON",
        "TrellisTestSupport", "TrellisStoreTesting", "TrellisStorage", "Trellis", "TrellisFoundationPredicates",
        "TrellisModel",
      ],
      swiftSettings: settings),
  ]
}

for target in package.targets {
  let names = target.dependencies.compactMap { if case .byNameItem(let name, _) = $0 { name } else { nil } }
  guard names.contains("Trellis") else { continue }
  target.dependencies += exported.filter { !names.contains($0) }.map { .byName(name: $0) }
}
