internal import CSQLite
import TrellisQuery

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
