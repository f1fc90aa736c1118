import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// The statements of both SQL stores for one wide model, as texts. `TRELLIS_RECORD=1` writes the files anew.
@Suite("Statements of the SQL stores") struct StatementTests {
  @Test("SQLite's statements are those of the file") func sqlite() throws {
    try compare(try SQLiteTexts(try StatementModel.make()).all(), "SQLite.txt")
  }

  @Test("PostgreSQL's statements are those of the file") func postgres() throws {
    try compare(try PostgresTexts(try StatementModel.make()).all(), "PostgreSQL.txt")
  }

  private func compare(_ lines: [String], _ file: String) throws {
    let place = URL(filePath: #filePath).deletingLastPathComponent().appending(path: file)
    let text = lines.joined(separator: "\n") + "\n"
    if TestSettings.number("TRELLIS_RECORD", or: 0) == 1 {
      try text.write(to: place, atomically: true, encoding: .utf8)
    }
    let golden = try String(contentsOf: place, encoding: .utf8)
    if text == golden { return }
    let (now, before) = (text.split(separator: "\n"), golden.split(separator: "\n"))
    let known = Set(before)
    let new = now.filter { !known.contains($0) }.prefix(5)
    Issue.record("\(file): \(now.count) lines, \(before.count) before; new: \(new.joined(separator: "\n"))")
  }
}

// MARK: - Model

private enum StatementModel {
  static func make() throws -> Model {
    let result = ModelFile.parse(Array(text.utf8), path: "Library.model.json")
    return try Model(try #require(result.description, "\(result.rendered())"))
  }

  /// Every home of a relationship, a hierarchy, unique keys, indexes, external, searchable and stored derived values, and a
  /// history.
  private static let text = """
    { "model": "Library", "history": "values",
      "enums": { "Mood": { "type": "string", "cases": ["calm", "angry"], "unknown": "preserve" } },
      "entities": {
        "Author": {
          "attributes": {
            "name": { "type": "string", "searchable": true }, "email": { "type": "string", "optional": true },
            "born": { "type": "date", "optional": true }, "score": { "type": "double", "optional": true },
            "mood": { "type": "Mood", "optional": true }, "active": "bool", "mark": { "type": "uuid", "optional": true },
            "bookCount": { "type": "int64", "derived": "books.@count", "stored": true } },
          "relationships": {
            "books": { "destination": "Book", "inverse": "author", "toMany": true, "ordered": true, "deleteRule": "cascade" },
            "friends": { "destination": "Author", "inverse": "friends", "toMany": true },
            "profile": { "destination": "Profile", "inverse": "author", "optional": true },
            "partner": { "destination": "Author", "inverse": "partner", "optional": true },
            "visited": { "destination": "Shelf", "inverse": "visitors", "toMany": true, "deleteRule": "noAction" } },
          "unique": [["email"]], "indexes": [["-born", "name"]] },
        "Profile": { "attributes": { "bio": "string" },
          "relationships": { "author": { "destination": "Author", "inverse": "profile" } } },
        "Book": {
          "attributes": {
            "title": "string", "pages": { "type": "int32", "optional": true }, "price": { "type": "decimal", "optional": true },
            "edition": "int16", "cover": { "type": "data", "optional": true, "externalStorage": true } },
          "relationships": {
            "author": { "destination": "Author", "inverse": "books", "optional": true },
            "tags": { "destination": "Tag", "inverse": "books", "toMany": true, "ordered": true },
            "sequel": { "destination": "Book", "optional": true } },
          "unique": [["title", "edition"]], "indexes": [["pages"]] },
        "Tag": { "attributes": { "name": "string" },
          "relationships": { "books": { "destination": "Book", "inverse": "tags", "toMany": true, "ordered": true } } },
        "Shelf": { "attributes": { "label": "string" },
          "relationships": {
            "visitors": { "destination": "Author", "inverse": "visited", "toMany": true, "deleteRule": "noAction" },
            "contents": { "destination": "Book", "toMany": true },
            "parent": { "destination": "Shelf", "inverse": "parts", "optional": true },
            "parts": { "destination": "Shelf", "inverse": "parent", "toMany": true, "deleteRule": "cascade" } } },
        "Animal": { "abstract": true,
          "attributes": { "name": "string", "chip": { "type": "int64", "optional": true } },
          "relationships": { "owner": { "destination": "Author", "optional": true } }, "unique": [["chip"]] },
        "Dog": { "parent": "Animal", "attributes": { "breed": "string" }, "unique": [["breed", "name"]] },
        "Puppy": { "parent": "Dog", "attributes": { "weeks": "int16" } },
        "Cat": { "parent": "Animal", "attributes": { "lives": { "type": "int16", "optional": true } } }
      } }
    """

  static let formats: [(entity: String, format: String)] = [
    ("Author", "name == 'a'"), ("Author", "NOT (name == 'a')"), ("Author", "NOT (email == nil OR score > 2.5)"),
    ("Author", "email != nil AND (active == true OR mood == 'calm') AND (born < CAST('2020-01-01', 'NSDate'))"),
    ("Author", "name BEGINSWITH 'a' AND name ENDSWITH 'b' AND name CONTAINS 'c' AND name LIKE 'd*e?'"),
    ("Author", "name CONTAINS[cd] 'é'"), ("Author", "name MATCHING 'one two'"), ("Author", "bookCount > 3"),
    ("Author", "ANY books.pages > 100"), ("Author", "ALL books.title == 'x'"), ("Author", "NONE friends.name == 'x'"),
    ("Author", "NOT (ANY books.tags.name == 'x')"), ("Author", "books.@count == 2 AND friends.@count > 1"),
    ("Author", "visited.@count == 0"), ("Author", "books.@sum.pages > 10 AND books.@max.price < 3"),
    ("Author", "profile.bio == 'x' AND partner.name != 'y'"), ("Author", "name IN {'a', 'b'}"),
    ("Author", "TRUEPREDICATE"),
    ("Author", "NOT (FALSEPREDICATE)"), ("Author", "NOT (NOT (name == 'a' AND name == 'b'))"),
    ("Book", "author == nil"), ("Book", "author.name == author.email"), ("Book", "price == 1.50 OR price IN {1, 2}"),
    ("Book", "pages + edition * 2 > 10"), ("Book", "cover == nil"), ("Book", "sequel.sequel.title == 'x'"),
    ("Book", "tags.@count > 0 AND title == author.name"),
    ("Animal", "owner.name == 'x'"), ("Dog", "breed == 'x' AND name != 'y'"), ("Puppy", "weeks BETWEEN {1, 3}"),
    ("Shelf", "parent.parent.label == 'x' AND contents.@count == 1"),
  ]

  /// The requests that the formats are the conditions of.
  static func requests(_ model: Model) throws -> [(title: String, request: StoreRequest)] {
    let cache = FormatCache()
    return try formats.enumerated().compactMap { number, each in
      let entity = try #require(model.entity(named: each.entity))
      let format = FormatCache.Request(text: each.format, interpolated: [], given: [], bindings: [:])
      let predicate: QueryPredicate
      do { predicate = try cache.predicate(format, of: entity.index, in: model) } catch {
        Issue.record("\(each.format): \(error)")
        return nil
      }
      var request = StoreRequest(entity: entity.index, predicate: predicate)
      let attributes = entity.properties.compactMap(\.attribute).filter {
        $0.column != nil && !$0.description.isExternal
      }
      if number % 2 == 0, let attribute = attributes.first {
        request.sort = [SortKey(PropertyPath(variable: 0).appending(attribute.index), descending: true, kind: .text)]
      }
      if number % 3 == 0 { (request.limit, request.offset) = (10, number % 2) }
      return ("\(each.entity) where \(each.format)", request)
    }
  }

  /// A save that has everything.
  static func save(_ model: Model) throws -> SaveRequest {
    let request = SaveRequest()
    for entity in model.entities where !entity.isAbstract {
      let key = Int64(entity.index) * 10 + 1
      func record(_ key: Int64, _ version: Int64) -> PlainRecord {
        PlainRecord(entity, key: key, version: version, entity.columns.map { value(of: $0, in: entity) })
      }
      request.inserts.append(SaveRequest.Inserts(entity: entity.index, records: [record(key, 0), record(key + 1, 0)]))
      let mask = ColumnMask(only: entity.columns[0].property)
      request.updates.append(
        SaveRequest.Updates(
          entity: entity.index, records: [record(key + 2, 1), record(key + 3, 1)], masks: [mask, mask]))
      request.deletes.append(SaveRequest.Deletes(entity: entity.index, keys: [key + 4, key + 5], versions: [1, 1]))
      for relationship in entity.properties.compactMap(\.relationship) where relationship.entity == entity.index {
        let number = relationship.number
        if relationship.isColumn {
          request.clearedReferences.append(SaveRequest.ClearedReferences(relationship: number, targets: [key + 4]))
        }
        guard relationship.isToMany else { continue }
        var counts = SaveRequest.CountChecks(relationship: number, owners: [key, key + 2])
        counts.leaving = [7, 8]
        request.counts.append(counts)
        if case .joinTable = relationship.home {
          request.denials.append(SaveRequest.RestrictChecks(relationship: number, owners: [key + 4]))
        }
      }
    }
    for table in model.joinTables {
      var pairs = SaveRequest.Pairs(table: table.index)
      pairs.added = [SaveRequest.Pairs.Pair(first: 1, partner: 2, place: 1, inversePlace: 1)]
      pairs.removed = [SaveRequest.Pairs.Pair(first: 1, partner: 3)]
      pairs.moved = [SaveRequest.Pairs.Pair(first: 1, partner: 4, place: 2)]
      request.pairs.append(pairs)
    }
    return request
  }

  private static func value(of column: Column, in entity: Entity) -> StoredValue {
    guard let attribute = entity.properties[column.property].attribute, case .attribute = column.content else {
      return column.isOptional ? .null : .integer(1)
    }
    if column.isOptional { return .null }
    switch attribute.storageClass {
    case .integer: return .integer(1)
    case .real: return .real(1)
    case .text: return .text("1")
    case .blob: return .blob([1])
    }
  }
}

// MARK: - SQLite

private struct SQLiteTexts {
  let model: Model
  let layout: SQLiteLayout
  let past: SQLiteLayout

  init(_ model: Model) throws {
    self.model = model
    layout = SQLiteLayout(model, search: SearchPlan(model), derived: DerivedPlan(model))
    past = SQLiteLayout(model, isPast: true)
  }

  func all() throws -> [String] {
    var lines = ["-- tables"] + SchemaStatements(model).all
    lines += ["-- features"] + SearchPlan(model).parts.map(\.statement) + DerivedPlan(model).parts.map(\.statement)
    lines += HistoryPlan(model).parts.map(\.statement) + HistoryPlan(model).purgePast
    lines += SearchPlan(model).indexMarked + DerivedPlan(model).markAll
    for group in DerivedPlan(model).groups { lines.append(try group.computation(in: layout).text) }
    lines.append("-- checks")
    let checks = CheckStatements(model)
    lines += checks.parts.map { "\($0.name) \($0.statement)" }
    for root in model.entities where root.parent == nil {
      lines += [checks.unknownEntities(of: root), checks.unreservedKeys(of: root, isInReplicaSet: true)].compactMap(
        \.self)
    }
    lines += model.joinTables.compactMap(checks.lostOwners)
    for entity in model.entities { lines += try rows(entity) }
    for entity in model.entities {
      for relationship in entity.properties.compactMap(\.relationship) where relationship.entity == entity.index {
        lines.append("-- \(entity.name).\(relationship.name)")
        lines += try members(relationship, layout) + members(relationship, past)
        lines += [
          layout.clearStatement(relationship.number), layout.referringRowsStatement(relationship.number),
          layout.unlinkStatement(relationship.number),
        ].compactMap(\.self)
      }
    }
    for table in model.joinTables {
      let pairs = PairStatements(table)
      lines += [pairs.insert, pairs.insert(rows: 2), pairs.all, pairs.delete, pairs.move ?? ""]
      lines += [pairs.deleteAll(ofFirst: true), pairs.deleteAll(ofFirst: false)]
    }
    for (title, request) in try StatementModel.requests(model) {
      lines.append("-- \(title)")
      for purpose in [RequestShape.Purpose.rows, .keys, .count] {
        lines.append(try RequestStatement(request, for: purpose, in: layout).text)
      }
      lines.append(try BatchStatement(deleting: request, in: layout).text)
    }
    return lines
  }

  private func rows(_ entity: Entity) throws -> [String] {
    let number = entity.index
    let mask = ColumnMask(only: entity.columns[0].property)
    return [
      "-- rows of \(entity.name)", layout.insertStatement(number), layout.insertStatement(number, rows: 3),
      layout.restoreStatement(number), layout.updateStatement(number, mask), layout.deleteStatement(number),
      layout.staleRowsStatement(number), layout.deleteListStatement(number), layout.rowStatement(number),
      layout.rowRangeStatement(number), layout.rowListStatement(number),
    ] + entity.uniqueKeys.compactMap(layout.holdersStatement)
      + entity.columns.indices.compactMap { layout.placeStatement(number, column: $0) }
  }

  private func members(_ relationship: Relationship, _ layout: TableLayout) throws -> [String] {
    let texts = try #require(
      MemberStatements(layout, entity: relationship.entity, property: relationship.index))
    return [
      texts.rows, texts.keys, texts.levels, texts.lastPlaces, texts.places, texts.counts, texts.owners, texts.scan,
      texts.share, texts.keysFrom, "\(texts.hasPlaces) \(texts.hasUnorderedPairs)",
    ].compactMap(\.self)
  }
}

// MARK: - PostgreSQL

private struct PostgresTexts {
  let model: Model
  let setup: PostgresSetup

  init(_ model: Model) throws {
    self.model = model
    let address = try ServerAddress("postgres://localhost/test")
    setup = PostgresSetup(address, PostgresOptions(connectionString: "", schema: "shop"), model)
  }

  func all() throws -> [String] {
    var lines = ["-- tables"] + setup.schema.all
    lines += setup.schema.parts.map { "\($0.kind) \($0.name) \($0.columns) \($0.orders) \($0.target ?? "")" }
    lines += model.joinTables.map(setup.schema.pairs)
    lines.append("-- former rows")
    let former = FormerRows(setup)
    for table in FormerTables(setup.schema).tables {
      lines += former.creation(table) + former.triggers(table) + [former.rows(of: table, asOf: 7)]
    }
    for entity in model.entities {
      for relationship in entity.properties.compactMap(\.relationship) where relationship.entity == entity.index {
        lines.append("-- \(entity.name).\(relationship.name)")
        lines += try members(relationship)
      }
    }
    for (title, request) in try StatementModel.requests(model) { lines += try texts(title, request) }
    lines.append("-- a save")
    lines += try SaveStatements(try StatementModel.save(model), setup, nil).steps.map(\.statement.text)
    return lines
  }

  private func members(_ relationship: Relationship) throws -> [String] {
    let texts = try setup.layout.memberStatements(relationship.number)
    return [
      texts.rows, texts.keys, texts.levels, texts.lastPlaces, texts.places, texts.counts, texts.owners,
    ].compactMap(\.self)
  }

  private func texts(_ title: String, _ request: StoreRequest) throws -> [String] {
    var conditions = ExactConditions(
      setup, entity: request.entity, .none, ServerFunctions(setup.layout.names))
    var (terms, rest): ([String], [QueryPredicate]) = ([], [])
    if let predicate = request.predicate { try conditions.split(predicate, into: &terms, rest: &rest) }
    let order = try conditions.order(by: request.decidingSort) ?? "-- in memory"
    return [
      "-- \(title)", "\(conditions.paths.rootSource) WHERE \(terms.joined(separator: " AND "))\(order)",
      "-- \(rest.count) terms in memory, \(conditions.parameters.count) parameters",
    ]
  }
}
