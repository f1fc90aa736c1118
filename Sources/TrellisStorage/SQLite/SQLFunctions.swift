internal import CSQLite
import TrellisModel

/// Shared code of the SQL functions in Swift: adding a function, reading its arguments and setting its result.
enum SQLFunction {
  typealias Body = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  typealias Final = @convention(c) (OpaquePointer?) -> Void

  private static let flags = Int32(TRELLIS_SQLITE_UTF8 | TRELLIS_SQLITE_DETERMINISTIC | TRELLIS_SQLITE_DIRECTONLY)

  static func add(_ name: String, _ count: Int32, to handle: OpaquePointer, _ body: Body) -> Int32 {
    trellis_sqlite3_create_function_v2(handle, name, count, flags, nil, body, nil, nil, nil)
  }

  static func add(
    _ name: String, _ count: Int32, to handle: OpaquePointer, step: Body, final: Final
  ) -> Int32 {
    trellis_sqlite3_create_function_v2(handle, name, count, flags, nil, nil, step, final, nil)
  }

  // MARK: Values

  /// The argument's text. Nil if the value is not a text.
  static func text(_ value: OpaquePointer) -> String? {
    guard trellis_sqlite3_value_type(value) == TRELLIS_SQLITE_TEXT, let bytes = trellis_sqlite3_value_text(value) else {
      return nil
    }
    let count = Int(trellis_sqlite3_value_bytes(value))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  static func value(_ value: OpaquePointer) -> StoredValue {
    switch trellis_sqlite3_value_type(value) {
    case TRELLIS_SQLITE_INTEGER: return .integer(trellis_sqlite3_value_int64(value))
    case TRELLIS_SQLITE_FLOAT: return .real(trellis_sqlite3_value_double(value))
    case TRELLIS_SQLITE_TEXT: return text(value).map { .text($0) } ?? .null
    case TRELLIS_SQLITE_BLOB:
      let start = trellis_sqlite3_value_blob(value)
      let count = start == nil ? 0 : Int(trellis_sqlite3_value_bytes(value))
      return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    default: return .null
    }
  }

  static func answer(_ context: OpaquePointer, _ value: StoredValue) {
    switch value {
    // No value function receives or returns a file.
    case .null, .file: trellis_sqlite3_result_null(context)
    case .integer(let integer): trellis_sqlite3_result_int64(context, integer)
    case .real(let real): trellis_sqlite3_result_double(context, real)
    case .text(let text): answer(context, text)
    case .blob(let bytes):
      bytes.withUnsafeBytes {
        trellis_sqlite3_result_blob(
          context, $0.baseAddress, Int32(truncatingIfNeeded: $0.count), trellis_sqlite_transient())
      }
    }
  }

  private static func answer(_ context: OpaquePointer, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let base = bytes.baseAddress else {
          return trellis_sqlite3_result_text(context, "", 0, trellis_sqlite_transient())
        }
        trellis_sqlite3_result_text(context, base, Int32(truncatingIfNeeded: bytes.count), trellis_sqlite_transient())
      }
    }
  }
}

// MARK: - Kept argument

/// The value computed from a function's argument. SQLite keeps it with the statement as long as the argument stays the
/// same.
final class KeptArgument<Value> {
  private let value: Value

  private init(_ value: Value) { self.value = value }

  /// The value computed from the second argument. It is computed now if it is not cached. Nil if there is no value for
  /// this argument.
  ///
  /// A function caches at most one argument, always as the same type.
  static func second(of context: OpaquePointer, _ make: () -> Value?) -> Value? {
    if let kept = trellis_sqlite3_get_auxdata(context, 1) {
      // Sound because this is the only object cached here, and SQLite returns it before the release below.
      return Unmanaged<KeptArgument<Value>>.fromOpaque(kept).takeUnretainedValue().value
    }
    guard let value = make() else { return nil }
    // SQLite may release the object at once, so this function keeps the value as well.
    trellis_sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(KeptArgument(value)).toOpaque()) { pointer in
      // The object's class is the same for every value type here: it is only released.
      if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
    }
    return value
  }
}

// MARK: - Value functions

/// The SQL functions for computations. They share the code for evaluation in memory, because SQLite's own arithmetic
/// converts integers to reals on overflow, fails in sums, and has no decimals.
enum ValueFunctions {
  /// Adds to a connection:
  /// - `trellis_compute(operator, a, b)` and `trellis_apply(function, a)`. Their first argument is the operator's or
  ///   function's number;
  /// - `trellis_date(a, function)`, with a date function as text;
  /// - the aggregates of predicates, `trellis_sum_…(value)` and `trellis_average_…(value)`, and those of groups,
  ///   `trellis_total_…(value)` and `trellis_mean_…(value)`, for each kind of number.
  static func add(to handle: OpaquePointer) -> Int32 {
    var code = SQLFunction.add("trellis_compute", 3, to: handle, compute)
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_apply", 2, to: handle, apply) }
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_date", 2, to: handle, date) }
    for (name, step, final) in aggregates where code == TRELLIS_SQLITE_OK {
      code = SQLFunction.add("trellis_\(name)", 1, to: handle, step: step, final: final)
    }
    return code
  }

  private static let aggregates: [(String, SQLFunction.Body, SQLFunction.Final)] = [
    ("sum_integer", addInteger, { GroupMemory.finish($0) { $0.sum(.integer) } }),
    ("sum_decimal", addDecimal, { GroupMemory.finish($0) { $0.sum(.decimal) } }),
    ("sum_real", addReal, { GroupMemory.finish($0) { $0.sum(.real) } }),
    ("average_integer", addInteger, { GroupMemory.finish($0) { $0.average(.integer) } }),
    ("average_decimal", addDecimal, { GroupMemory.finish($0) { $0.average(.decimal) } }),
    ("average_real", addReal, { GroupMemory.finish($0) { $0.average(.real) } }),
    ("total_integer", addInteger, { GroupMemory.finish($0) { $0.total(.integer) } }),
    ("total_decimal", addDecimal, { GroupMemory.finish($0) { $0.total(.decimal) } }),
    ("total_real", addReal, { GroupMemory.finish($0) { $0.total(.real) } }),
    ("mean_integer", addInteger, { GroupMemory.finish($0) { $0.mean(.integer) } }),
    ("mean_decimal", addDecimal, { GroupMemory.finish($0) { $0.mean(.decimal) } }),
    ("mean_real", addReal, { GroupMemory.finish($0) { $0.mean(.real) } }),
  ]

  private static let compute: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 3, let sign = values[0], let left = values[1], let right = values[2],
      let sign = ArithmeticOperator(word: trellis_sqlite3_value_int64(sign))
    else { return }
    SQLFunction.answer(
      context, ValueArithmetic.compute(sign, SQLFunction.value(left), SQLFunction.value(right)))
  }

  private static let apply: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2, let function = values[0], let value = values[1],
      let function = ValueFunction(word: trellis_sqlite3_value_int64(function))
    else { return }
    SQLFunction.answer(context, ValueArithmetic.apply(function, SQLFunction.value(value)))
  }

  private static let date: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2, let value = values[0], let function = values[1],
      let lookup = KeptArgument.second(
        of: context, { SQLFunction.text(function).flatMap { DateFunction(code: $0) }.map { DateLookup.of($0) } })
    else { return }
    SQLFunction.answer(context, lookup.value(of: SQLFunction.value(value)))
  }

  // MARK: Aggregates

  private static let addInteger: SQLFunction.Body = { context, _, values in
    guard let context, let value = values?[0], let sum = GroupMemory.sum(context) else { return }
    if trellis_sqlite3_value_type(value) == TRELLIS_SQLITE_INTEGER {
      sum.pointee.add(trellis_sqlite3_value_int64(value))
    } else {
      sum.pointee.add(SQLFunction.value(value), kind: .integer)
    }
  }

  private static let addReal: SQLFunction.Body = { context, _, values in
    guard let context, let value = values?[0], let sum = GroupMemory.sum(context) else { return }
    if trellis_sqlite3_value_type(value) == TRELLIS_SQLITE_FLOAT {
      sum.pointee.add(trellis_sqlite3_value_double(value))
    } else {
      sum.pointee.add(SQLFunction.value(value), kind: .real)
    }
  }

  private static let addDecimal: SQLFunction.Body = { context, _, values in
    guard let context, let value = values?[0], let sum = GroupMemory.sum(context) else { return }
    if trellis_sqlite3_value_type(value) == TRELLIS_SQLITE_TEXT, let bytes = trellis_sqlite3_value_text(value) {
      let count = Int(trellis_sqlite3_value_bytes(value))
      sum.pointee.add(decimal: UnsafeBufferPointer(start: bytes, count: count))
    } else {
      sum.pointee.add(SQLFunction.value(value), kind: .decimal)
    }
  }
}

/// The memory that SQLite gives an aggregate for each group: a word that is not 0 once the group has begun, and its sum.
/// SQLite clears the memory before the first call.
private enum GroupMemory {
  // SQLite aligns its memory to 8 bytes.
  private static var headerSize: Int { 8 }

  /// The group's sum so far. Nil, and an error of the statement, if there is no memory.
  @inline(__always) static func sum(_ context: OpaquePointer) -> UnsafeMutablePointer<NumberSum>? {
    let size = headerSize + MemoryLayout<NumberSum>.size
    guard let memory = trellis_sqlite3_aggregate_context(context, Int32(size)) else {
      trellis_sqlite3_result_error_nomem(context)
      return nil
    }
    // Sound because only this function initializes the sum, once, and `finish`, which SQLite calls exactly once for
    // each group that has begun, even after a failure, deinitializes it.
    if memory.load(as: UInt64.self) == 0 {
      memory.storeBytes(of: 1, as: UInt64.self)
      return (memory + headerSize).initializeMemory(as: NumberSum.self, to: NumberSum())
    }
    return (memory + headerSize).assumingMemoryBound(to: NumberSum.self)
  }

  static func finish(_ context: OpaquePointer?, _ result: (NumberSum) -> StoredValue) {
    guard let context else { return }
    // Size 0 creates no memory for a group without rows.
    guard let memory = trellis_sqlite3_aggregate_context(context, 0), memory.load(as: UInt64.self) != 0 else {
      return SQLFunction.answer(context, result(NumberSum()))
    }
    let sum = (memory + headerSize).assumingMemoryBound(to: NumberSum.self)
    memory.storeBytes(of: 0, as: UInt64.self)
    SQLFunction.answer(context, result(sum.move()))
  }
}

// MARK: - Language collations

/// The collations of languages, which a connection gets when a statement first names one.
enum LanguageCollation {
  static func add(to handle: OpaquePointer) -> Int32 {
    trellis_sqlite3_collation_needed(handle, nil) { _, handle, _, text in
      guard let handle, let text else { return }
      let name = String(cString: text)
      let prefix = PredicateTranslator.languagePrefix
      guard name.hasPrefix(prefix) else { return }
      let order = LanguageOrder(String(name.dropFirst(prefix.count)))
      // If the collation cannot be added, the statement that needs it fails. SQLite then releases nothing.
      let data = Unmanaged.passRetained(order).toOpaque()
      let code = trellis_sqlite3_create_collation_v2(
        handle, name, TRELLIS_SQLITE_UTF8, data, LanguageCollation.compare
      ) { pointer in
        if let pointer { Unmanaged<LanguageOrder>.fromOpaque(pointer).release() }
      }
      if code != TRELLIS_SQLITE_OK { Unmanaged<LanguageOrder>.fromOpaque(data).release() }
    }
  }

  private static let compare:
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
    ) -> Int32 = { data, leftCount, left, rightCount, right in
      guard let data else { return 0 }
      // Sound because the connection keeps the object until it drops the collation.
      let order = Unmanaged<LanguageOrder>.fromOpaque(data).takeUnretainedValue()
      let left = String(decoding: UnsafeRawBufferPointer(start: left, count: Int(leftCount)), as: UTF8.self)
      let right = String(decoding: UnsafeRawBufferPointer(start: right, count: Int(rightCount)), as: UTF8.self)
      return Int32(order.compare(left, right))
    }
}

// MARK: - Text functions

/// The SQL functions that need Unicode, which SQLite does not support.
enum TextFunctions {
  /// Adds to a connection:
  /// - `trellis_fold(text, options)`: the folded text for a comparison with these options; other values are unchanged;
  /// - `trellis_like(text, mask)` and `trellis_matches(text, pattern, ignores case)`: 1 or 0, and 0 if an argument is
  ///   not a text.
  static func add(to handle: OpaquePointer) -> Int32 {
    var code = SQLFunction.add("trellis_fold", 2, to: handle, fold)
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_like", 2, to: handle, like) }
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_matches", 3, to: handle, matches) }
    return code
  }

  private static let fold: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2, let value = values[0] else { return }
    guard let text = SQLFunction.text(value) else { return trellis_sqlite3_result_value(context, value) }
    let options = values[1].map { trellis_sqlite3_value_int64($0) } ?? 0
    let folded = TextFolding.fold(text, options: TextOptions(rawValue: UInt8(truncatingIfNeeded: options)))
    SQLFunction.answer(context, .text(folded))
  }

  private static let like: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2 else { return }
    guard let text = values[0].flatMap(SQLFunction.text), let mask = values[1].flatMap(SQLFunction.text) else {
      return trellis_sqlite3_result_int64(context, 0)
    }
    trellis_sqlite3_result_int64(context, TextPattern.isLike(text, mask) ? 1 : 0)
  }

  private static let matches: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 3 else { return }
    guard let text = values[0].flatMap(SQLFunction.text), let pattern = keptPattern(context, values) else {
      return trellis_sqlite3_result_int64(context, 0)
    }
    trellis_sqlite3_result_int64(context, pattern.matches(text) ? 1 : 0)
  }

  private static func keptPattern(_ context: OpaquePointer, _ values: UnsafeMutablePointer<OpaquePointer?>)
    -> TextPattern?
  {
    KeptArgument.second(of: context) {
      let ignoresCase = values[2].map { trellis_sqlite3_value_int64($0) } == 1
      return values[1].flatMap(SQLFunction.text).map { TextPattern($0, ignoringCase: ignoresCase) }
    }
  }
}

// MARK: - Search functions

/// The SQL functions of full-text search.
enum SearchFunctions {
  /// Adds to a connection:
  /// - `trellis_search(text, query)`: 1 or 0, and 0 if an argument is not a text;
  /// - `trellis_search_rank(text, query)`: the rank of the match, or null if an argument is not a text;
  /// - `trellis_search_words(text)`: the words of the text for the index, or null if it is not a text.
  static func add(to handle: OpaquePointer) -> Int32 {
    var code = SQLFunction.add("trellis_search", 2, to: handle, search)
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_search_rank", 2, to: handle, rank) }
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_search_words", 1, to: handle, words) }
    return code
  }

  private static let search: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2 else { return }
    guard let text = values[0].flatMap(SQLFunction.text), let query = keptQuery(context, values) else {
      return trellis_sqlite3_result_int64(context, 0)
    }
    trellis_sqlite3_result_int64(context, query.matches(text) ? 1 : 0)
  }

  private static let rank: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2 else { return }
    guard let text = values[0].flatMap(SQLFunction.text), let query = keptQuery(context, values) else {
      return trellis_sqlite3_result_null(context)
    }
    trellis_sqlite3_result_double(context, query.rank(of: text))
  }

  private static let words: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 1 else { return }
    guard let text = values[0].flatMap(SQLFunction.text) else { return trellis_sqlite3_result_null(context) }
    SQLFunction.answer(context, .text(SearchTokens.kept(of: text)))
  }

  private static func keptQuery(_ context: OpaquePointer, _ values: UnsafeMutablePointer<OpaquePointer?>)
    -> SearchQuery?
  {
    KeptArgument.second(of: context) { values[1].flatMap(SQLFunction.text).map { SearchQuery($0) } }
  }
}
