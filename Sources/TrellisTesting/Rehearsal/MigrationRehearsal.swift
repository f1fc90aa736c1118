public import Foundation
import TrellisDynamic
import TrellisModel
package import TrellisModelFile
public import TrellisRuntime
public import TrellisStorage

/// Migrates stores of all released versions of a model to the newest one, and looks at what became of their objects.
///
/// ```swift
/// @Test func formerVersions() throws {
///   let report = try MigrationRehearsal(of: .journal, history: "Journal.history", migration: steps).run()
///   #expect(report.findings.isEmpty, "\(report)")
/// }
/// ```
/// Each version has stores of random objects that its rules allow, and those that are kept in a folder. Each store is opened
/// with the newest model at once, and a copy of it with every later version in turn, as an app's users may have done. Both are
/// compared with the former store, object by object, and with each other, and are checked by all rules. Stores are in files
/// of a temporary folder, which is removed.
///
/// `trellis rehearse` does the same without the steps of a program.
public struct MigrationRehearsal: Sendable {
  /// The number of random objects of each entity.
  public var objects = 20
  /// The seeds of the random objects. There is a store of each version for each of them.
  public var seeds: [UInt64] = [1]
  /// The time after which no further store is made. What was left out is in the report.
  public var timeLimit = Duration.seconds(120)
  /// A folder with stores of former versions, SQLite files or JSON documents; nil if there are none.
  public var stores: URL?
  /// The entities and properties that steps in Swift may change beyond the rules of the model, such as `Note.tags`. What they
  /// do to others is a finding.
  public var changedBySteps: Set<String> = []

  private let versions: [Version]
  private let newest: Model
  private let current: ObjectModel
  private let policy: MigrationPolicy
  /// The number of the newest version whose stores need steps in Swift that are not at hand; 0 if all are.
  private let missingSteps: Int
  /// Called when a program has migrated a store and closed it.
  package var didMigrate: @Sendable (RehearsedMigration) throws -> Void = { _ in }

  /// A released version.
  struct Version: Sendable {
    let number: Int
    let model: Model
  }

  /// Creates the rehearsal of a generated model.
  ///
  /// - Parameters:
  ///   - model: The model of the program.
  ///   - history: The folder of the released versions, which `trellis release` writes, or its path from the folder of the Swift
  ///     file.
  ///   - migration: The policy of the program, with its steps.
  ///   - file: The Swift file.
  /// - Throws: ``RehearsalError`` if the folder cannot be read, or a version in it was edited.
  public init(
    of model: ObjectModel, history: String, migration: MigrationPolicy = .automatic, beside file: String = #filePath
  ) throws {
    let folder = URL(filePath: history, relativeTo: URL(filePath: file).deletingLastPathComponent())
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    guard let names, names.contains(where: { $0.hasSuffix(".json") }) else {
      throw RehearsalError(
        "There is no released version in \(folder.path). `trellis release` writes the first one beside the model.")
    }
    let files = names.sorted().map { name in
      let url = folder.appending(path: name)
      return ModelHistory.File(path: url.path, bytes: (try? Data(contentsOf: url)).map { [UInt8]($0) })
    }
    try self.init(of: model, history: ModelHistory(files), migration: migration)
  }

  /// - Parameter missingSteps: The number of the newest version whose stores need steps that are not at hand.
  package init(
    of model: ObjectModel, history: ModelHistory, migration: MigrationPolicy = .automatic, missingSteps: Int = 0
  ) throws {
    if let fault = history.diagnostics.first { throw RehearsalError(fault.rendered()) }
    versions = try history.versions.map { version in
      Version(number: version.number, model: try Model(try version.description(), checksum: version.checksum))
    }
    current = model
    newest = try Model(model.description, checksum: model.checksum)
    policy = migration
    self.missingSteps = missingSteps
  }

  /// Rehearses all migrations.
  ///
  /// - Returns: what was found.
  /// - Throws: the errors of the file system for the temporary folder and the folder of stores. What stores throw is a
  ///   finding.
  /// - Complexity: each store is opened once for each later version. The objects of a store are in memory.
  public func run() throws -> RehearsalReport {
    let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-rehearsal-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var rehearsal = RehearsalRun(self, folder)
    let clock = ContinuousClock()
    let start = clock.now
    for source in try sources(&rehearsal) {
      if clock.now - start >= timeLimit {
        rehearsal.omit(source.version?.number, source.name, "The time was over.")
        continue
      }
      try rehearsal.run(source)
    }
    return rehearsal.report
  }

  // MARK: Stores

  /// A store to be rehearsed.
  struct Source {
    let version: Version?
    let name: String
    /// The seed of a random store.
    var seed: UInt64 = 0
    /// The kept store; nil for a random one.
    var kept: (store: RehearsedStore, model: Model)?
  }

  /// Kept stores come first, then the newest versions, which most users have.
  private func sources(_ rehearsal: inout RehearsalRun) throws -> [Source] {
    var sources: [Source] = []
    for url in try keptFiles() {
      let name = url.lastPathComponent
      guard let store = RehearsedStore(at: url) else {
        rehearsal.omit(nil, name, "It is no SQLite file and no JSON document of Trellis, or it is encrypted.")
        continue
      }
      do {
        let model = try store.model()
        let version = versions.first { $0.model.checksum == model.checksum }
        if version == nil && model.name != newest.name {
          rehearsal.omit(nil, name, "It is a store of another model, \(model.name).")
          continue
        }
        guard let former = version, former.number <= missingSteps else {
          sources.append(Source(version: version, name: name, kept: (store, model)))
          continue
        }
        rehearsal.omit(former.number, name, needsSteps)
      } catch {
        rehearsal.omit(nil, name, "It cannot be read: \(error)")
      }
    }
    let former = versions.filter { $0.model.checksum != newest.checksum }
    for version in former where version.number <= missingSteps {
      rehearsal.omit(version.number, "all stores", needsSteps)
    }
    for seed in seeds {
      sources += former.reversed().filter { $0.number > missingSteps }
        .map { Source(version: $0, name: "seed \(seed)", seed: seed) }
    }
    return sources
  }

  private var needsSteps: String {
    "It needs the program's steps in Swift up to version \(missingSteps); `MigrationRehearsal` runs them in a test of the program."
  }

  private func keptFiles() throws -> [URL] {
    guard let stores else { return [] }
    return try FileManager.default.contentsOfDirectory(at: stores, includingPropertiesForKeys: [.isDirectoryKey])
      .filter { url in
        let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
        return !isFolder && !RehearsedStore.isPart(url.lastPathComponent)
      }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  // MARK: Ways

  /// A program that opens a store.
  struct Program {
    /// The version; nil for the newest model.
    let version: Version?
    let model: Model
  }

  /// The programs that open a store in turn, the newest model last.
  ///
  /// A version behind one that has a step in Swift had the step in its own program. So stores that need a step go to its
  /// version, and then to the newest model.
  func way(from version: Version, _ steps: [CodedStep]) -> [Program] {
    let last = steps.map(\.number).min() ?? .max
    return versions.filter { $0.number > version.number && $0.number <= last && $0.model.checksum != newest.checksum }
      .map { Program(version: $0, model: $0.model) } + [Program(version: nil, model: newest)]
  }

  func steps(for model: Model) -> [CodedStep] {
    (try? policy.steps(for: model.checksum, former: [], to: newest)) ?? []
  }

  /// Opens a store as a program does, and closes it.
  func migrate(_ store: RehearsedStore, _ program: Program) throws {
    let isNewest = program.version == nil
    let container = try PersistentContainer(
      model: isNewest ? current : ObjectModel(dynamic: program.model.description, checksum: program.model.checksum),
      store: store.configuration(isNewest ? policy : .automatic), log: nil)
    container.close()
  }

  /// The plan of the newest program for a store; nil if it need not be migrated.
  func plan(of store: RehearsedStore) throws -> MigrationPlan? { try store.configuration(policy).plan(newest) }

  var newestProgram: Program { Program(version: nil, model: newest) }
}

extension MigrationRehearsal: CustomStringConvertible {
  /// The name of the model and the number of versions: `Journal, 2 versions`.
  public var description: String { "\(newest.name), \(versions.count) versions" }
}

/// A migration of a store that is closed.
package struct RehearsedMigration: Sendable {
  /// The version of the store in the beginning; nil if it is of none.
  package let from: Int?
  /// The version whose program has migrated it; nil for the newest model.
  package let to: Int?
  /// Whether it is one of the migrations with each version in turn.
  package let isStepwise: Bool
  /// The store.
  package let url: URL
}

/// The reason why nothing can be rehearsed.
public struct RehearsalError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, as sentences.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension RehearsalError: LocalizedError {
  public var errorDescription: String? { description }
}
