internal import CSQLite
import TrellisQuery

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
