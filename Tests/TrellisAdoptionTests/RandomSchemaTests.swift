import TrellisForeignFiles
import Foundation
import Testing
import TrellisGenerator
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@testable import TrellisAdoption

@Suite struct RandomSchemaTests {
  @Test func `random databases come across with every row`() throws {
    let seed = TestSettings.seed("TRELLIS_ADOPTION_SEED")
    for round in 0..<TestSettings.number("TRELLIS_ADOPTION_SCHEMAS", or: 40) {
      let roundSeed = seed &+ UInt64(round)
      let random = RandomDatabase(seed: roundSeed)
      do { try check(random, roundSeed) } catch {
        Issue.record("TRELLIS_ADOPTION_SEED=\(roundSeed) TRELLIS_ADOPTION_SCHEMAS=1: \(error)\n\(random.sql)")
      }
    }
  }

  private func check(_ random: RandomDatabase, _ seed: UInt64) throws {
    let file = try AdoptionTestFile(random.sql)
    let database = try file.database()
    let text = try database.modelText()
    let result = ModelFile.parse(Array(text.utf8), path: "Shop.model.json")
    #expect(result.description == database.description, "\(seed): \(text)")
    #expect(throws: Never.self, "\(seed)") {
      _ = try GeneratedFile(database.description, modelFileName: "Shop.model.json")
    }
    let report = try database.copy(to: file.target)
    #expect(report.left.isEmpty, "\(seed): \(report)")
    let counts = Dictionary(uniqueKeysWithValues: report.rows.map { ($0.table, $0.rows) })
    for table in random.tables { #expect(counts[table.name] == table.rows.count, "\(seed): \(table.name)") }
    #expect(report.pairs == random.pairs, "\(seed)")
    try compare(file, database.description, seed)
  }

  /// Compares each value of the store with that of the source, and each reference by the row that it leads to.
  private func compare(_ file: AdoptionTestFile, _ model: ModelDescription, _ seed: UInt64) throws {
    let source = try SQLiteSource(file.source)
    let adopted = try AdoptedModel(try source.schema(sample: 100))
    let target = try SQLiteSource(file.target)
    var keys: [String: [RowIdentity: Int64]] = [:]
    for entity in adopted.entities {
      var identities: [RowIdentity] = []
      try source.rows(RowQuery(entity.table)) { identities.append($0.identity) }
      var next = identities.makeIterator()
      var found: [RowIdentity: Int64] = [:]
      try target.rows(RowQuery(entity.name, columns: ["_id"])) { row in
        if let identity = next.next(), case .integer(let key) = row.values[0] { found[identity] = key }
      }
      keys[entity.table] = found
    }
    for entity in adopted.entities {
      var expected: [[StoredValue]] = []
      let references = entity.references.map(\.key)
      try source.rows(RowQuery(entity.table, columns: entity.attributes.map(\.column), references: references)) { row in
        let values = zip(entity.attributes, row.values).map { $0.form.stored($1) ?? .text("nothing") }
        let goals = zip(references, row.targets).map { key, goal in
          goal.flatMap { keys[key.target]?[$0] }.map { StoredValue.integer($0) } ?? .null
        }
        expected.append(values + goals)
      }
      var found: [[StoredValue]] = []
      let columns = entity.attributes.map(\.name) + entity.references.map(\.name)
      try target.rows(RowQuery(entity.name, columns: columns)) { row in
        found.append(row.values.map(Self.stored))
      }
      #expect(found == expected, "\(seed): \(entity.table)")
    }
  }

  private static func stored(_ value: ForeignValue) -> StoredValue {
    switch value {
    case .null: .null
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let value): .text(value)
    case .blob(let value), .unsound(let value): .blob(value)
    }
  }

  @Test func `mutated schemas are adopted or refused with a reason`() throws {
    let seed = TestSettings.seed("TRELLIS_ADOPTION_SEED")
    var random = SeededGenerator(seed: seed)
    let marks = Array("()\"',;[]%x0- \u{0}".utf8)
    for round in 0..<TestSettings.number("TRELLIS_ADOPTION_MUTATIONS", or: 150) {
      var bytes = Array(RandomDatabase(seed: UInt64(random.below(1_000))).sql.utf8)
      for _ in 0..<(1 + random.below(4)) {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = marks[random.below(marks.count)]
        case 1: bytes.remove(at: place)
        default:
          bytes.insert(
            contentsOf: bytes[place..<min(bytes.count, place + random.below(40))], at: random.below(bytes.count))
        }
      }
      let sql = String(decoding: bytes, as: UTF8.self)
      // The parsers see it as it is, whatever SQLite makes of it.
      let text = TableText(sql, columns: ["id", "column_0"])
      for check in text.checks { _ = SQLExpression(check) }
      let file = try AdoptionTestFile("CREATE TABLE zz (x)")
      let other = try OtherProgram(file.source)
      for statement in sql.split(separator: "\n") { try? other.run(String(statement)) }
      do {
        let database = try file.database()
        _ = try database.modelText()
        _ = try database.copy(to: file.target, allowingLoss: true)
      } catch let error as AdoptionError {
        #expect(!error.remedy.isEmpty)
      } catch {
        Issue.record("TRELLIS_ADOPTION_SEED=\(seed), round \(round): \(error)\n\(sql)")
      }
    }
  }

  @Test func `damaged files are adopted or refused with a reason`() throws {
    let seed = TestSettings.seed("TRELLIS_ADOPTION_SEED")
    var random = SeededGenerator(seed: seed)
    let file = try AdoptionTestFile(RandomDatabase(seed: 5).sql)
    let sound = Array(try Data(contentsOf: file.source))
    for _ in 0..<TestSettings.number("TRELLIS_ADOPTION_MUTATIONS", or: 150) {
      var bytes = sound
      for _ in 0..<(1 + random.below(8)) {
        let isEarly = random.below(2) == 0
        bytes[random.below(isEarly ? min(4_096, bytes.count) : bytes.count)] = UInt8(random.below(256))
      }
      let damaged = file.folder.file("damaged.sqlite")
      try Data(bytes).write(to: damaged)
      do {
        let database = try AdoptedDatabase(sqlite: damaged)
        _ = try database.modelText()
        try? FileManager.default.removeItem(at: file.target)
        _ = try database.copy(to: file.target, allowingLoss: true)
      } catch let error as AdoptionError {
        #expect(!error.remedy.isEmpty)
      } catch {
        #expect(!"\(error)".isEmpty)
      }
    }
  }
}
