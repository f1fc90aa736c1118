import TrellisTestSupport

/// A database with tables of all shapes, with odd names, and rows that fit.
struct RandomDatabase {
  struct Table {
    var name: String
    var key: [String]
    var rows: [[String]]
  }

  private(set) var statements: [String] = []
  private(set) var tables: [Table] = []
  /// The numbers of pairs in tables that have nothing else.
  private(set) var pairs = 0
  private var random: SeededGenerator

  var sql: String { statements.map { $0 + ";" }.joined(separator: "\n") }

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let count = 1 + random.below(6)
    for number in 0..<count { makeTable(number) }
    for number in 0..<random.below(3) { makeJoin(number) }
    if random.below(2) == 0 {
      statements.append("CREATE VIEW \"a view\" AS SELECT * FROM \(Self.quoted(tables[0].name))")
    }
    if random.below(3) == 0 {
      statements.append(
        "CREATE TRIGGER tr AFTER DELETE ON \(Self.quoted(tables[0].name)) BEGIN SELECT 1; END")
    }
  }

  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  private static let oddNames = [
    "select", "Order Details", "이름", "x\"y", "2024", "", "Type", "self", "Object", "ID", "id", "description",
    "FirstName",
    "first_name", "a.b", "hash", "été", "🍎", "__", "Z", "User", "user_s", "class", "String", "init", "data", "snapshot",
    "objectID",
    "tbl_UserAccounts", "a b c", "delete", "rowid", "_id", "_version", "news", "Status", "where", "none", "unknown",
    "a'b", "[x]",
  ]

  private mutating func oddName(_ usual: String, besides taken: [String]) -> String {
    if random.below(3) > 0 { return usual }
    let name = Self.oddNames[random.below(Self.oddNames.count)]
    return taken.contains { $0.lowercased() == name.lowercased() } ? usual : name
  }

  // MARK: Tables

  private static let types: [(declared: String, values: [String])] = [
    ("INTEGER", ["0", "1", "-5", "9223372036854775807"]), ("TEXT", ["'a'", "''", "'가나'", "'it''s'"]),
    ("VARCHAR(10)", ["'abc'", "'x'"]), ("REAL", ["1.5", "-0.25", "3"]), ("BLOB", ["x'00ff'", "x''"]),
    ("BOOLEAN", ["0", "1"]), ("DECIMAL(10,2)", ["9.95", "12", "-0.5"]), ("DATE", ["'2026-01-31'", "'1999-12-31'"]),
    ("DATETIME", ["1700000000", "1600000000"]), ("TIMESTAMP", ["'2026-01-31 10:00:00'", "'2026-01-31T10:00:00.5Z'"]),
    ("", ["1", "'text'", "2.5"]), ("JSON", ["'{\"a\": 1}'", "'[]'"]),
    ("UUID", ["'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"]),
    ("INT CHECK (%@ BETWEEN -10 AND 10)", ["-10", "3"]),
    ("TEXT CHECK (%@ IN ('a', 'b c', 'none'))", ["'a'", "'none'"]),
    ("INT DEFAULT 7 CHECK (%@ > 0 OR %@ < -5)", ["8"]), ("TEXT DEFAULT 'x' COLLATE NOCASE", ["'X'", "'y'"]),
    ("SOMETHING ODD(3, 4)", ["5", "'five'"]),
  ]

  private mutating func makeTable(_ number: Int) {
    let name = oddName("table_\(number)", besides: tables.map(\.name))
    var columns: [String] = []
    var definitions: [String] = []
    var choices: [[String]] = []
    var key: [String] = []
    let shape = random.below(5)
    if shape < 3 {
      let column = oddName(random.below(2) == 0 ? "id" : "\(name)_id", besides: columns)
      columns.append(column)
      definitions.append("\(Self.quoted(column)) \(shape == 2 ? "TEXT" : "INTEGER") PRIMARY KEY NOT NULL")
      choices.append([shape == 2 ? "'k%d'" : "%d"])
      key = [column]
    } else if shape == 3 {
      columns += ["part one", "Part2"]
      definitions += ["\"part one\" INT NOT NULL", "Part2 TEXT NOT NULL"]
      choices += [["%d"], ["'p%d'"]]
      key = ["part one", "Part2"]
    }
    for place in 0..<(1 + random.below(5)) {
      let column = oddName("column_\(place)", besides: columns)
      let type = Self.types[random.below(Self.types.count)]
      columns.append(column)
      let declared = type.declared.split(separator: "%@", omittingEmptySubsequences: false).joined(
        separator: Self.quoted(column))
      let isRequired = random.below(3) == 0
      definitions.append("\(Self.quoted(column)) \(declared)\(isRequired ? " NOT NULL" : "")")
      choices.append(type.values + (isRequired ? [] : ["NULL"]))
    }
    let rowCount = random.below(8)
    var constraints = shape == 3 ? ["PRIMARY KEY (\"part one\", Part2)"] : []
    addReferences(name, key, rowCount, &columns, &definitions, &choices, &constraints)
    let ending = !key.isEmpty && random.below(4) == 0 ? " WITHOUT ROWID" : ""
    if random.below(4) == 0, ending.isEmpty {
      definitions.append(
        "doubled INT GENERATED ALWAYS AS (length(\(Self.quoted(columns[0]))) * 2) \(random.below(2) == 0 ? "STORED" : "VIRTUAL")"
      )
    }
    statements.append(
      "CREATE TABLE \(Self.quoted(name)) (\((definitions + constraints).joined(separator: ", ")))\(ending)")
    if random.below(2) == 0 {
      let column = columns[random.below(columns.count)]
      statements.append(
        "CREATE INDEX \(Self.quoted("index \(number)")) ON \(Self.quoted(name)) (\(Self.quoted(column)) DESC)")
    }
    var rows: [[String]] = []
    for row in 0..<rowCount {
      let values = choices.map { choice in
        choice[random.below(choice.count)].split(separator: "%d", omittingEmptySubsequences: false).joined(
          separator: "\(row + 1)")
      }
      rows.append(values)
      statements.append(
        "INSERT INTO \(Self.quoted(name)) (\(columns.map(Self.quoted).joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
      )
    }
    tables.append(Table(name: name, key: key, rows: rows))
  }

  /// Adds references to earlier tables and to the table itself.
  private mutating func addReferences(
    _ name: String, _ key: [String], _ rowCount: Int, _ columns: inout [String], _ definitions: inout [String],
    _ choices: inout [[String]], _ constraints: inout [String]
  ) {
    let actions = [
      "", " ON DELETE CASCADE", " ON DELETE SET NULL ON UPDATE CASCADE", " ON DELETE RESTRICT",
      " ON DELETE SET DEFAULT",
    ]
    for place in 0..<random.below(3) {
      let isSelf = random.below(4) == 0
      let target =
        isSelf ? Table(name: name, key: key, rows: []) : tables.isEmpty ? nil : tables[random.below(tables.count)]
      guard let target, !target.key.isEmpty else { continue }
      let action = actions[random.below(actions.count)]
      let count = isSelf ? rowCount : target.rows.count
      let added = target.key.indices.map { "ref\(place)_\($0)_id" }
      let rows = (0..<count).map { $0 + 1 }
      for (number, column) in added.enumerated() {
        columns.append(column)
        definitions.append("\(Self.quoted(column))")
        let isText = isSelf ? false : target.rows.first.map { $0[number].hasPrefix("'") } ?? false
        let prefix = target.key.count == 2 ? "p" : "k"
        // Both parts of a key have to be of the same row, so only one row is referred to.
        let values = (target.key.count == 2 ? Array(rows.prefix(1)) : rows).map {
          isText ? "'\(prefix)\($0)'" : "\($0)"
        }
        choices.append(isSelf || values.isEmpty ? ["NULL"] : values + (target.key.count == 2 ? [] : ["NULL"]))
      }
      constraints.append(
        "FOREIGN KEY (\(added.map(Self.quoted).joined(separator: ", "))) REFERENCES \(Self.quoted(target.name)) "
          + "(\(target.key.map(Self.quoted).joined(separator: ", ")))\(action)")
    }
  }

  private mutating func makeJoin(_ number: Int) {
    let ends = tables.filter { $0.key.count == 1 && !$0.rows.isEmpty }
    guard !ends.isEmpty else { return }
    let (one, other) = (ends[random.below(ends.count)], ends[random.below(ends.count)])
    let hasMore = random.below(2) == 0
    let name = "join_\(number)"
    statements.append(
      "CREATE TABLE \(name) (one_id NOT NULL REFERENCES \(Self.quoted(one.name)) (\(Self.quoted(one.key[0]))) ON DELETE CASCADE, "
        + "other_id NOT NULL REFERENCES \(Self.quoted(other.name)) (\(Self.quoted(other.key[0])))\(hasMore ? ", rank INT" : ""), "
        + "PRIMARY KEY (one_id, other_id))")
    var rows: [[String]] = []
    for first in one.rows {
      for second in other.rows where random.below(2) == 0 { rows.append([first[0], second[0]]) }
    }
    for row in rows { statements.append("INSERT INTO \(name) (one_id, other_id) VALUES (\(row[0]), \(row[1]))") }
    if hasMore { tables.append(Table(name: name, key: [], rows: rows)) } else { pairs += rows.count }
  }
}
