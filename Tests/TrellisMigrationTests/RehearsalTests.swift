import Testing
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisTestSupport
import TrellisTesting

@testable import TrellisStorage

/// Rehearsals of models of an app over years, whose authors tell all renames and consents.
@Suite("Rehearsals of many versions") struct RehearsalTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_REHEARSALS", or: 2)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)
  private static let length = TestSettings.isLong ? 24 : 8

  @Test("of careful authors nothing is found from any version, at once and step by step")
  func careful() throws {
    var (seed, count, migrations) = (Self.first, 0, 0)
    while count < Self.episodes {
      defer { seed += 1 }
      guard let series = SeriesTests.series(seed, Self.length) else { continue }
      count += 1
      let models = series.models.map(\.description)
      var rehearsal = try MigrationRehearsal(
        of: ObjectModel(dynamic: models[models.count - 1]), history: Self.history(of: models.dropLast()))
      rehearsal.objects = 6
      rehearsal.seeds = [seed, seed &* 31]
      rehearsal.timeLimit = .seconds(100_000)
      let report = try rehearsal.run()
      migrations += report.runs.reduce(0) { $0 + 1 + ($1.steps ?? 0) }
      #expect(report.runs.count >= 2 * (models.count - 2), "seed \(seed): \(report)")
      let found = report.findings.filter { !Self.isAmbiguous($0, in: series) }
      if !found.isEmpty {
        Issue.record("seed \(seed):\n  \(found.prefix(6).map { "\($0)\n    \($0.advice)" }.joined(separator: "\n  "))")
      }
    }
    print("\(count) series of \(Self.length) models, the last of seed \(seed - 1): \(migrations) migrations")
  }

  @Test("a random fault in one value or row of one store is found, with its entity")
  func faulty() throws {
    let count: Int = TestSettings.number("TRELLIS_REHEARSED_FAULTS", or: 6)
    var seed = Self.first
    var kinds: [RehearsalFinding.Code: Int] = [:]
    while kinds.values.reduce(0, +) < count {
      defer { seed += 1 }
      guard let series = SeriesTests.series(seed, 3) else { continue }
      let models = series.models.map(\.description)
      let tampering = Tampering(
        try ModelMatch(from: Model(models[0]), to: Model(models[2])), SeededGenerator(seed: seed &* 7))
      var rehearsal = try MigrationRehearsal(
        of: ObjectModel(dynamic: models[2]), history: Self.history(of: models.dropLast()))
      rehearsal.objects = 5
      rehearsal.seeds = [seed]
      rehearsal.didMigrate = { migration in
        if migration.to == nil, !migration.isStepwise, migration.from == 1 { try tampering.tamper(migration.url.path) }
      }
      let report = try rehearsal.run()
      guard let fault = tampering.fault else { continue }
      let found = report.findings.first { $0.subject.hasPrefix(fault.entity) && $0.versions == [1] }
      #expect(found != nil, "seed \(seed), \(fault.sql): \(report)")
      kinds[found?.code ?? .refused, default: 0] += 1
    }
    print("faults to seed \(seed - 1): \(kinds.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", "))")
  }

  /// Changes a value, or deletes a row, of a store that has just been migrated.
  private final class Tampering: Sendable {
    private let match: ModelMatch
    private let random: Locked<SeededGenerator>
    private let done = Locked<(sql: String, entity: String)?>(nil)

    /// What was done; nil if nothing could be.
    var fault: (sql: String, entity: String)? { done.withLock { $0 } }

    init(_ match: ModelMatch, _ random: SeededGenerator) {
      self.match = match
      self.random = Locked(random)
    }

    func tamper(_ path: String) throws {
      let options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 100, isReadOnly: false)
      let database = try Database(path: path, options: options)
      for (sql, entity, check) in random.withLock({ statements().shuffled(using: &$0) }) {
        guard let rows = try? database.texts(check, 1), rows.first?.first.map({ $0 != nil && $0 != "0" }) == true else {
          continue
        }
        // A row that others refer to cannot go.
        guard (try? database.execute(sql, doing: "tamper")) != nil else { continue }
        done.withLock { $0 = (sql, entity) }
        return
      }
    }

    /// Statements, with the number of rows that each concerns.
    private func statements() -> [(sql: String, entity: String, check: String)] {
      var found: [(sql: String, entity: String, check: String)] = []
      for entity in match.current.entities where match.origins[entity.index] != nil && !entity.isAbstract {
        let table = SQLName.quoted(match.current.name(ofEntity: entity.root))
        let kind = entity.isInHierarchy ? "\"_entity\" = '\(entity.name)'" : "TRUE"
        let row = "(SELECT min(_id) FROM \(table) WHERE \(kind))"
        found.append(
          ("DELETE FROM \(table) WHERE _id = \(row)", entity.name, "SELECT count(*) FROM \(table) WHERE \(kind)"))
        for case .attribute(let attribute) in entity.properties {
          guard let number = attribute.column, match.origin(of: attribute.index, in: entity.index)?.attribute != nil
          else { continue }
          let column = SQLName.quoted(entity.columns[number].name)
          let filled = "\(kind) AND \(column) IS NOT NULL"
          let place = "_id = (SELECT min(_id) FROM \(table) WHERE \(filled))"
          let check = "SELECT count(*) FROM \(table) WHERE \(filled)"
          if attribute.isOptional {
            found.append(("UPDATE \(table) SET \(column) = NULL WHERE \(place)", entity.name, check))
          }
          guard let other = Self.other(attribute.type, column) else { continue }
          found.append(("UPDATE \(table) SET \(column) = \(other) WHERE \(place)", entity.name, check))
        }
      }
      return found
    }

    /// An expression for another value.
    private static func other(_ type: AttributeType, _ column: String) -> String? {
      switch type {
      case .bool: "1 - \(column)"
      case .integer, .date: "\(column) / 2 - 3"
      case .float, .double: "\(column) + 16.5"
      case .string: "\(column) || '.'"
      case .decimal: "'123456.75'"
      case .uuid: "randomblob(16)"
      case .url: "'https://example.org/tampered'"
      case .data, .enumeration, .array, .codable: nil
      }
    }
  }

  static func history(of models: some Sequence<ModelDescription>) -> ModelHistory {
    ModelHistory(
      models.enumerated().map { number, model in
        let version = ReleasedModel(model, number: number + 1, released: "2026-03-02")
        return ModelHistory.File(path: ModelHistory.fileName(of: number + 1), bytes: Array(version.fileText.utf8))
      })
  }

  /// Whether both ways bring other links, because a model in between tells more than the first and the last one.
  private static func isAmbiguous(_ finding: RehearsalFinding, in series: RandomSeries) -> Bool {
    guard finding.code == .pathsDiffer, let last = try? Model(series.last.description) else { return false }
    return finding.versions.allSatisfy { version in
      series.ambiguousLinks(of: series.pairs.count, from: version - 1).contains { name in
        let parts = name.split(separator: ".").map(String.init)
        guard let end = last.entity(named: parts[0])?.property(named: parts[1])?.relationship else { return false }
        let ends = [end] + [last.inverse(of: end)].compactMap(\.self)
        return ends.contains { end in
          last.entities[end.entity].subtree.contains { finding.subject == "\(last.name(ofEntity: $0)).\(end.name)" }
        }
      }
    }
  }
}
