import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisRuntime
@testable import TrellisStorage

/// The object of conditions that compare two values.
private struct Nothing: QueryObject {
  var queryKey: Int64 { 1 }
  var queryEntityName: String { "" }
  func queryValue(_ property: Int) throws -> StoredValue { .null }
  func queryPartner(_ property: Int) throws -> Nothing? { nil }
  func queryMembers(_ property: Int) throws -> [Nothing] { [] }
}

/// `TRELLIS_TRIGRAMS` is the number of random conditions, `TRELLIS_TRIGRAMS_SEED` the seed.
@Suite("Text conditions by an index on a server", .enabled(if: PostgresCluster.canStart, "needs initdb"))
struct TrigramIndexTests {
  private static let count: Int = TestSettings.number("TRELLIS_TRIGRAMS", or: 100)
  private static let seed: UInt64 = TestSettings.number("TRELLIS_TRIGRAMS_SEED", or: .random(in: 0 ... .max))

  private static let cluster = Result {
    let cluster = try PostgresCluster.start()
    _ = try cluster.psql(
      "CREATE ROLE owner LOGIN PASSWORD 'secret'; CREATE ROLE app LOGIN PASSWORD 'secret';"
        + "CREATE ROLE reader LOGIN PASSWORD 'secret'")
    return cluster
  }

  // MARK: Stores

  /// Folders of notes with a searchable body.
  private static func model() throws -> ObjectModel {
    ObjectModel(
      dynamic: ModelDescription(
        name: "Notes",
        entities: [
          EntityDescription(
            "Note",
            attributes: [
              AttributeDescription("body", .string, optional: true, searchable: true),
              AttributeDescription("number", .int64),
            ], relationships: [RelationshipDescription("folder", to: "Folder", inverse: "notes", optional: true)]),
          EntityDescription(
            "Folder", attributes: [AttributeDescription("number", .int64)],
            relationships: [RelationshipDescription("notes", to: "Note", inverse: "folder", toMany: true)]),
        ]))
  }

  /// How the locale of a database is said to `CREATE DATABASE`.
  private static let locales = [
    "LOCALE 'C'", "LOCALE 'C.UTF-8'", "LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C.UTF-8'",
    "LOCALE_PROVIDER icu ICU_LOCALE 'tr' LOCALE 'C'",
  ]

  /// A new database; nil if the server does not know the locale.
  private func database(_ locale: String, withExtension: Bool = true) throws -> String? {
    let name = "d\(UInt64.random(in: 0 ... .max))"
    do {
      _ = try Self.cluster.get().psql("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' \(locale)")
    } catch is PostgresFailure where locale != Self.locales[0] {
      return nil
    }
    if withExtension { try sql("CREATE EXTENSION pg_trgm", name) }
    return name
  }

  @discardableResult private func sql(_ text: String, _ database: String) throws -> [String] {
    try Self.cluster.get().psql(text, database: database).split(separator: "\n").map(String.init)
  }

  private func open(_ database: String, _ role: String? = nil, connections: Int = 2) throws -> PersistentContainer {
    let cluster = try Self.cluster.get()
    let url =
      role.map { "postgresql://\($0):secret@\(cluster.host):\(cluster.port)/\(database)" }
      ?? cluster.url(database: database)
    return try PersistentContainer(
      model: Self.model(), store: .postgres(url, schema: "notes", connections: connections, timeout: 60))
  }

  private func fill(_ container: PersistentContainer, _ bodies: [String?]) throws {
    let context = container.newContext()
    let folders = try (0..<10).map { try context.insert("Folder", ["number": .integer($0)]) }
    for (number, body) in bodies.enumerated() {
      let note = try context.insert(
        "Note", ["body": body.map(StoredValue.text) ?? .null, "number": .integer(Int64(number))])
      try note.set("folder", folders[number % 10])
    }
    try context.save()
  }

  private func numbers(
    _ container: PersistentContainer, _ entity: String, _ format: String, _ arguments: [String]
  ) throws -> [Int64] {
    let found = try container.newContext().objects(entity, where: format, arguments.map { .value(.text($0), .text) })
    return try found.compactMap { object in
      if case .integer(let number) = try object.value("number") { number } else { nil }
    }.sorted()
  }

  private func plan(_ container: PersistentContainer, _ format: String, _ argument: String) throws -> QueryPlan {
    let context = container.newContext()
    let entity = try #require(context.model.entities.first { $0.name == "Note" }).index
    let request = try context.request(for: entity, format: format, arguments: [.value(.text(argument), .text)])
    return try context.graph.connection().plan(of: request)
  }

  private static let index = "_search._trigrams.Note.body"
  private static let indexes = "SELECT relname FROM pg_class WHERE relkind = 'i' AND starts_with(relname, '_search._t')"

  // MARK: Answers

  private static let scripts: [ClosedRange<UInt32>] = [
    0x20...0x7E, 0x61...0x64, 0x61...0x64, 0x41...0x44, 0xC0...0x17F, 0x300...0x36F, 0x391...0x3C9, 0x410...0x44F,
    0x5D0...0x5EA, 0x5B0...0x5BC, 0x627...0x652, 0x904...0x94D, 0x9BE...0x9D7, 0x1100...0x1112, 0x1161...0x1175,
    0x11A8...0x11C2, 0x1E00...0x1E9F, 0x1F00...0x1FFE, 0x304B...0x309A, 0x4E00...0x4E10, 0xAC00...0xAC1D,
    0x1F600...0x1F604, 0x378...0x37A, 0x1E4EC...0x1E4EF,
  ]
  private static let odd = [
    "İ", "ı", "ß", "ẞ", "ς", "Σ", "σ", "e\u{301}", "é", "ſ", "K", "Å", "ﬁ", "가\u{11A8}", "각", "\u{301}", "%", "_", "\\",
    "'",
    "zqxj", " ", "   ", "🍵", "<\u{338}", "か\u{3099}", "\u{345}", "I", "i",
  ]

  private static func text(_ random: inout SeededGenerator, _ length: Int) -> String {
    var text = ""
    var script = scripts[random.below(scripts.count)]
    for _ in 0..<length {
      switch random.below(9) {
      case 0: text += odd[random.below(odd.count)]
      case 1: script = scripts[random.below(scripts.count)]
      default: break
      }
      if let scalar = Unicode.Scalar(UInt32.random(in: script, using: &random)), scalar.value != 0 {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// A piece of a text, which may begin and end within a letter, in another spelling.
  private static func piece(_ text: String, _ random: inout SeededGenerator) -> String {
    let scalars = Array(text.unicodeScalars)
    let start = random.below(scalars.count + 1)
    var piece = String.UnicodeScalarView()
    piece.append(contentsOf: scalars[start..<min(scalars.count, start + 1 + random.below(9))])
    return switch random.below(6) {
    case 0: String(piece).uppercased()
    case 1: String(piece).lowercased()
    case 2: String(piece).decomposedStringWithCanonicalMapping
    case 3: TextFolding.fold(String(piece), options: TextOptions(rawValue: UInt8(1 + random.below(7))))
    default: String(piece)
    }
  }

  private static func mask(_ text: String, _ random: inout SeededGenerator) -> String {
    var mask = random.below(3) == 0 ? "" : "*"
    for scalar in text.unicodeScalars {
      switch random.below(12) {
      case 0: mask += "*"
      case 1: mask += "?"
      default: mask += ("*?\\".unicodeScalars.contains(scalar) ? "\\" : "") + String(scalar)
      }
    }
    return mask + (random.below(3) == 0 ? "" : "*")
  }

  private static func expression(_ text: String, _ random: inout SeededGenerator) -> String {
    var expression = random.below(4) == 0 ? "^" : ".*"
    for scalar in text.unicodeScalars {
      let literal = ("^$.*+?\\|()[]{}".unicodeScalars.contains(scalar) ? "\\" : "") + String(scalar)
      let others = [".", literal + "+", literal + "?", literal + "*?", "\\w*" + literal]
      expression += random.below(2) == 0 ? literal : others[random.below(others.count)]
    }
    return expression + (random.below(4) == 0 ? "$" : ".*")
  }

  private static let relations: [(String, ComparisonOperator)] = [
    ("CONTAINS", .contains), ("BEGINSWITH", .hasPrefix), ("ENDSWITH", .hasSuffix), ("==", .equal), ("LIKE", .like),
    ("MATCHES", .matches),
  ]

  private static func argument(
    _ relation: ComparisonOperator, _ text: String, _ random: inout SeededGenerator
  ) -> String {
    switch relation {
    case .like: mask(random.below(2) == 0 ? text : piece(text, &random), &random)
    case .matches: expression(random.below(2) == 0 ? text : piece(text, &random), &random)
    case .equal: [text, text.uppercased(), text.decomposedStringWithCanonicalMapping][random.below(3)]
    case .hasPrefix: String(String.UnicodeScalarView(text.unicodeScalars.prefix(random.below(9))))
    case .hasSuffix: String(String.UnicodeScalarView(text.unicodeScalars.suffix(random.below(9))))
    default: piece(text, &random)
    }
  }

  @Test("each text that satisfies a condition has the pattern of the index") func patterns() throws {
    var random = SeededGenerator(seed: Self.seed)
    var (matches, patterns) = (0, 0)
    for _ in 0..<(Self.count * 100) {
      let text = Self.text(&random, random.below(24))
      let (name, relation) = Self.relations[random.below(Self.relations.count)]
      let options = TextOptions(rawValue: UInt8(random.below(8)))
      let argument = Self.argument(relation, text, &random)
      let comparison = Comparison(
        .value(.text(text)), relation, .value(.text(argument)), kind: .text, options: options)
      guard try PredicateEvaluator(.comparison(comparison)).matches(Nothing()) else { continue }
      matches += 1
      for trigrams in [Trigrams(schema: "x", knowsAllLetters: true), Trigrams(schema: "x", knowsAllLetters: false)] {
        guard let like = TrigramPattern(comparison, argument)?.like(trigrams) else { continue }
        patterns += 1
        let letters = TextFolding.fold(text, options: [.caseInsensitive, .diacriticInsensitive])
        let scalars = text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
        #expect(
          Self.isLike(letters, like),
          "\(scalars) \(name) by \(options.rawValue) \(argument): \(like), seed \(Self.seed)")
      }
    }
    #expect(matches > Self.count * 20 && patterns > Self.count * 10, "\(matches) and \(patterns), seed \(Self.seed)")
  }

  /// LIKE of the server.
  private static func isLike(_ text: String, _ pattern: String) -> Bool {
    var mask = ""
    var scalars = pattern.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      switch scalar {
      case "%": mask += "*"
      case "\\": mask += "\\" + String(scalars.next() ?? scalar)
      default: mask += "\\" + String(scalar)
      }
    }
    return TextPattern.isLike(text, mask)
  }

  @Test("conditions have the answers of memory in databases of every locale", arguments: locales.indices)
  func answers(_ locale: Int) throws {
    guard let database = try database(Self.locales[locale]) else { return }
    // The index serves whatever it is able to, although the table is small.
    for way in ["seqscan", "indexscan"] { try sql("ALTER DATABASE \(database) SET enable_\(way) = off", database) }
    var random = SeededGenerator(seed: Self.seed &+ UInt64(locale))
    let server = try open(database)
    let memory = try PersistentContainer(model: Self.model(), store: .memory(named: "\(UUID())"))
    defer {
      server.close()
      memory.close()
    }
    var bodies: [String?] = (0..<300).map { _ in Self.text(&random, random.below(24)) }
    bodies += [nil, "", "zqxj", "Coffee, decaf", "a CAFÉ", "100 % coffee_shop \\ tea", "아이스커피를 들고"]
    for container in [server, memory] { try fill(container, bodies) }
    let texts = bodies.compactMap(\.self)
    let options = ["", "[c]", "[d]", "[cd]", "[n]"]
    var (found, filtered, served) = (0, 0, 0)
    for turn in 0..<Self.count {
      func condition() -> (String, String) {
        let (name, relation) = Self.relations[random.below(Self.relations.count)]
        let text = texts[random.below(texts.count)]
        return ("body \(name)\(options[random.below(5)]) %@", Self.argument(relation, text, &random))
      }
      let (first, second) = (condition(), condition())
      let (entity, format, arguments) =
        switch random.below(9) {
        case 0: ("Note", "NOT (\(first.0))", [first.1])
        case 1: ("Note", "\(first.0) OR \(second.0)", [first.1, second.1])
        case 2: ("Note", "NOT (\(first.0) AND \(second.0))", [first.1, second.1])
        case 3: ("Folder", "ANY notes.\(first.0)", [first.1])
        case 4: ("Folder", "NONE notes.\(first.0)", [first.1])
        case 5: ("Note", "number > 100 AND (\(first.0) OR number == 7)", [first.1])
        default: ("Note", first.0, [first.1])
        }
      let expected = try numbers(memory, entity, format, arguments)
      found += expected.isEmpty ? 0 : 1
      let scalars = arguments.map { $0.unicodeScalars.map { String($0.value, radix: 16) } }
      #expect(
        try numbers(server, entity, format, arguments) == expected,
        "\(format) \(scalars), seed \(Self.seed), \(locale)")
      guard turn % 4 == 0, entity == "Note", arguments.count == 1 else { continue }
      let plan = try plan(server, format, arguments[0])
      guard plan.statement?.contains("trellis_letters") == true else { continue }
      filtered += 1
      if plan.steps.contains(where: { $0.contains(Self.index) }) { served += 1 }
    }
    // With letters of ASCII alone, few conditions look for the index.
    #expect(
      found * 3 > Self.count && (served > 0 || filtered < 4),
      "\(found), \(served) of \(filtered), seed \(Self.seed)")
  }

  // MARK: Plans

  @Test("the server serves a rare text by the index, and a short one by reading all") func plans() throws {
    let database = try #require(try database("LOCALE 'C'"))
    let container = try open(database)
    defer { container.close() }
    try sql(
      """
      INSERT INTO notes."Note" (_id, _version, body, number)
      SELECT n, 1, 'Words of note ' || translate(md5(n::text), 'abcdef', 'uvwxyz') || CASE WHEN n % 5000 = 0 THEN ' Décaf%Coffee' ELSE '' END, n
      FROM generate_series(1, 20000) AS n;
      UPDATE notes._keys SET next = 20001;
      VACUUM ANALYZE notes."Note"
      """, database)
    for (format, argument) in [
      ("body CONTAINS[cd] %@", "DECAF"), ("body CONTAINS[c] %@", "caf%co"), ("body CONTAINS %@", "Coffee"),
      ("body ENDSWITH[cd] %@", "f%coffee"), ("body LIKE[cd] %@", "*decaf?cof*"), ("body MATCHES %@", ".*Coff?e+"),
      ("body MATCHES[cd] %@", "words.*%COFFEE"), ("body CONTAINS[cd] %@ AND number > 0", "decaf"),
    ] {
      #expect(try numbers(container, "Note", format, [argument]) == [5000, 10000, 15000, 20000], "\(format)")
      let plan = try plan(container, format, argument)
      #expect(plan.steps.contains { $0.contains(Self.index) }, "\(format): \(plan)")
      #expect(!plan.scansWholeTable, "\(format)")
    }
    let body = try #require(try sql("SELECT body FROM notes.\"Note\" WHERE number = 9", database).first)
    for format in ["body ==[c] %@", "body BEGINSWITH[cd] %@"] {
      #expect(try numbers(container, "Note", format, [body.uppercased()]) == [9])
      #expect(try plan(container, format, body).steps.contains { $0.contains(Self.index) }, "\(format)")
    }
    for (format, argument) in [
      ("body CONTAINS[cd] %@", "dé"), ("NOT body CONTAINS[cd] %@", "decaf"), ("body MATCHES %@", "(Coffee|Tea).*"),
      ("body CONTAINS[cd] %@", "커피를"), ("body !=[c] %@", "decaf"),
    ] {
      #expect(try plan(container, format, argument).statement?.contains("trellis_letters") == false, "\(format)")
    }
    #expect(try container.check().isEmpty)
  }

  // MARK: The extension

  private func schema(_ database: String) throws {
    try sql(
      """
      CREATE SCHEMA notes AUTHORIZATION owner;
      GRANT USAGE ON SCHEMA notes TO app, reader;
      ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA notes GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO app;
      ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA notes GRANT SELECT ON TABLES TO reader;
      """, database)
  }

  private static let bodies = ["Coffee", "Tea", nil]

  /// Opens a store, and finds coffee in it.
  ///
  /// - Returns: whether the request looks for an index.
  private func isServed(_ database: String, _ role: String? = nil) throws -> Bool {
    let container = try open(database, role)
    defer { container.close() }
    #expect(try numbers(container, "Note", "body CONTAINS[cd] %@", ["OFFEE"]) == [0])
    return try plan(container, "body CONTAINS[cd] %@", "OFFEE").statement?.contains("trellis_letters") == true
  }

  @Test("without the extension a store has no such index, and gets it once the extension is there")
  func roles() throws {
    let database = try #require(try database("LOCALE 'C'", withExtension: false))
    try schema(database)
    do {
      let container = try open(database, "owner")
      defer { container.close() }
      try fill(container, Self.bodies)
    }
    for role in ["owner", "app", "reader"] { #expect(try !isServed(database, role), "\(role)") }
    #expect(try sql(Self.indexes, database) == [])
    try sql("CREATE SCHEMA ext; CREATE EXTENSION pg_trgm SCHEMA ext", database)
    // Only the superuser has the right to use the schema.
    #expect(try !isServed(database, "owner"))
    try sql("GRANT USAGE ON SCHEMA ext TO PUBLIC", database)
    for role in ["app", "reader"] { #expect(try !isServed(database, role), "\(role)") }
    for role in ["owner", "app", "reader"] { #expect(try isServed(database, role), "\(role)") }
    #expect(try sql(Self.indexes, database) == [Self.index])
    try sql("ALTER EXTENSION pg_trgm SET SCHEMA public", database)
    for role in ["owner", "app", "reader"] { #expect(try isServed(database, role), "\(role)") }
  }

  @Test("after the extension was dropped, all rows are read until it is there again") func dropped() throws {
    let database = try #require(try database("LOCALE 'C'"))
    try schema(database)
    let container = try open(database, "owner")
    defer { container.close() }
    try fill(container, Self.bodies)
    #expect(try isServed(database, "owner"))
    try sql("DROP EXTENSION pg_trgm CASCADE", database)
    #expect(try sql(Self.indexes, database) == [])
    // A program that is at work reads all rows.
    #expect(try numbers(container, "Note", "body CONTAINS[cd] %@", ["OFFEE"]) == [0])
    try fill(container, ["More coffee"])
    #expect(try numbers(container, "Note", "body CONTAINS[cd] %@", ["OFFEE"]) == [0, 0])
    try sql("DELETE FROM notes.\"Note\" WHERE body = 'More coffee'", database)
    for role in ["reader", "owner"] { #expect(try !isServed(database, role), "\(role)") }
    try sql("CREATE EXTENSION pg_trgm", database)
    for role in ["reader", "owner", "reader"].enumerated() {
      #expect(try isServed(database, role.element) == (role.offset > 0), "\(role)")
    }
    #expect(try sql(Self.indexes, database) == [Self.index])
  }

  @Test(
    "a restored store has the index if the extension came with it, and makes it once that is there",
    arguments: [false, true])
  func restored(_ withExtension: Bool) throws {
    let (database, copy) = (
      try #require(try database("LOCALE 'C'")), try #require(try database("LOCALE 'C'", withExtension: false))
    )
    do {
      let container = try open(database)
      defer { container.close() }
      try fill(container, Self.bodies)
    }
    let dump = Process()
    dump.executableURL = try #require(PostgresPrograms.installed).url(of: "pg_dump")
    dump.arguments = ["--schema=notes", "-d", try Self.cluster.get().url(database: database)]
    if withExtension { dump.arguments?.append("--extension=pg_trgm") }
    let output = Pipe()
    dump.standardOutput = output
    try dump.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    dump.waitUntilExit()
    try sql((withExtension ? "" : "\\set ON_ERROR_STOP 0\n") + text, copy)
    #expect(try sql(Self.indexes, copy) == (withExtension ? [Self.index] : []))
    #expect(try isServed(copy) == withExtension)
    try sql("CREATE EXTENSION IF NOT EXISTS pg_trgm", copy)
    #expect(try isServed(copy))
    #expect(try sql(Self.indexes, copy) == [Self.index])
  }
}
