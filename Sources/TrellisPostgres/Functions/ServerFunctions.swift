import TrellisModel
import TrellisStorage

/// The functions of a store on a server, which have the same results as evaluation in memory: folding of texts, arithmetic
/// without overflow and exact sums. They belong to the schema of the store, so that a backup has them.
struct ServerFunctions: Sendable {
  /// Raised with each change of the functions. A program uses those of a higher version as well, so a function keeps its
  /// results, or gets another name.
  static let version = 3

  private let qualifier: String

  init(_ names: SQLNames) { qualifier = names.qualifier }

  /// A call of a function, without the beginning of its name.
  func call(_ name: String, _ arguments: String...) -> String {
    "\(qualifier)trellis_\(name)(\(arguments.joined(separator: ", ")))"
  }

  // MARK: Texts

  /// A text folded as by ``TextFolding``. The texts of some marks and letters are folded in another way: ``isKnown(_:)``.
  func folded(_ sql: String, _ options: TextOptions) -> String {
    "(\(call("fold", sql, String(options.rawValue))) COLLATE \"C\")"
  }

  /// Whether a text is folded exactly as in memory. False for texts with marks that are newer than Unicode 13, whose order
  /// the server need not know, and for spellings that Foundation does not compose by the standard.
  func isKnown(_ sql: String) -> String { call("is_known", sql) }

  // MARK: Sums

  /// The exact sum of the reals in a column, rounded once; infinite or NaN as ``NumberSum/total(_:)`` finds it.
  func realTotal(_ column: String) -> String {
    call(
      "real_total", "sum(\(call("high", column)))", "sum(\(call("low", column)))",
      "\(call("sum_exact", column)) FILTER (WHERE NOT \(call("is_plain", column)) AND \(column) <> 0)",
      "sum(\(column)) FILTER (WHERE \(column) IN ('Infinity', '-Infinity'))")
  }

  /// The sum or the average of the numbers in a column, as ``ValueArithmetic/aggregate(_:_:kind:)`` finds it.
  func aggregate(_ function: AggregateFunction, _ column: String, _ type: ServerType) -> (
    sql: String, type: ServerType
  )? {
    switch (function, type) {
    case (.sum, .bigint): (call("integer_sum", "sum(\(column))"), .bigint)
    case (.average, .bigint): (call("integer_average", "sum(\(column))", "count(\(column))"), .double)
    case (.sum, .numeric): (call("decimal_sum", "sum(\(column))"), .numeric)
    case (.average, .numeric): (call("decimal_average", "sum(\(column))", "count(\(column))"), .numeric)
    case (.sum, .double): (call("finite", realTotal(column)), .double)
    case (.average, .double): (call("real_average", realTotal(column), "count(\(column))"), .double)
    default: nil
    }
  }
}

// MARK: - Creation

/// Makes the functions of a store, unless it has them.
struct FunctionOpening {
  private let connection: ServerConnection
  private let setup: PostgresSetup

  init(_ connection: ServerConnection, _ setup: PostgresSetup) {
    self.connection = connection
    self.setup = setup
  }

  private var marker: String { "\(setup.layout.names.qualifier)trellis_functions()" }

  /// - Returns: nil if the store lacks them, and the role may not make them, or the server has no such functions.
  func open() throws -> ServerFunctions? {
    let functions = ServerFunctions(setup.layout.names)
    if try version() >= ServerFunctions.version { return functions }
    if setup.options.isReadOnly { return nil }
    do {
      try connection.transaction { connection in
        try connection.limitLocks()
        try connection.lockChanges(ofSchema: setup.options.schema)
        if try version() >= ServerFunctions.version { return }
        try connection.runAll(statements)
      }
      return functions
    } catch let error as ServerError where error.isRefusalOfWrites || error.isOfMissingFeature {
      return nil
    }
  }

  /// The version of the functions that the store has; 0 if it has none.
  private func version() throws(ServerError) -> Int {
    var parameters = ServerParameters()
    parameters.add(marker)
    parameters.add(setup.layout.names.metadata)
    // Functions of a role that does not own the store may do anything.
    let found = try connection.run(
      ServerStatement(
        "SELECT obj_description(p.oid, 'pg_proc') FROM pg_proc AS p JOIN pg_class AS m ON m.oid = to_regclass($2) "
          + "WHERE p.oid = to_regprocedure($1) AND pg_has_role(p.proowner, m.relowner, 'MEMBER')", parameters))
    // Their texts name the schema, which may have another name since.
    guard found.count > 0, let text = found.text(0, 0), text.hasSuffix(about) else { return 0 }
    return text.dropLast(about.count).split(separator: " ").last.flatMap { Int($0) } ?? 0
  }

  /// The end of the comment.
  private var about: String { ", of the schema \(setup.options.schema)" }

  private var statements: [String] {
    let all = ServerFunctions.foldingFunctions + ServerFunctions.searchFunctions + ServerFunctions.numberFunctions
    let names = setup.layout.names.qualifier.dropLast()
    return all.map { $0.replacing("@schema@", with: names) } + [
      "CREATE OR REPLACE FUNCTION \(marker) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT \(ServerFunctions.version)'",
      "COMMENT ON FUNCTION \(marker) IS "
        + SQLName.literal("Functions of Trellis, version \(ServerFunctions.version)\(about)"),
    ]
  }
}
