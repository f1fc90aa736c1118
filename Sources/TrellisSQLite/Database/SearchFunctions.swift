internal import CSQLite
import TrellisQuery

/// The SQL functions of full-text search.
enum SearchFunctions {
  /// Adds to a connection:
  /// - `trellis_search(text, query)`: 1 or 0, 0 where one is no text;
  /// - `trellis_search_rank(text, query)`: how well the text matches, null where one is no text;
  /// - `trellis_search_words(text)`: what the index keeps of the text, null for what is none.
  static func add(to handle: OpaquePointer) -> Int32 {
    var code = SQLFunction.add("trellis_search", 2, to: handle, search)
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_search_rank", 2, to: handle, rank) }
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_search_words", 1, to: handle, words) }
    return code
  }

  private static let search: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2 else { return }
    guard let text = values[0].flatMap(SQLFunction.text), let query = KeptQuery.of(context, values) else {
      return trellis_sqlite3_result_int64(context, 0)
    }
    trellis_sqlite3_result_int64(context, query.query.matches(text) ? 1 : 0)
  }

  private static let rank: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2 else { return }
    guard let text = values[0].flatMap(SQLFunction.text), let query = KeptQuery.of(context, values) else {
      return trellis_sqlite3_result_null(context)
    }
    trellis_sqlite3_result_double(context, query.query.rank(of: text))
  }

  private static let words: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 1 else { return }
    guard let text = values[0].flatMap(SQLFunction.text) else { return trellis_sqlite3_result_null(context) }
    SQLFunction.answer(context, .text(SearchTokens.kept(of: text)))
  }
}

/// A query that SQLite keeps with the statement for as long as the argument stays the same.
private final class KeptQuery {
  let query: SearchQuery

  init(_ query: SearchQuery) { self.query = query }

  static func of(_ context: OpaquePointer, _ values: UnsafeMutablePointer<OpaquePointer?>) -> KeptQuery? {
    if let kept = trellis_sqlite3_get_auxdata(context, 1) {
      // Sound because nothing else is kept here, and SQLite gives it back before the release below.
      return Unmanaged<KeptQuery>.fromOpaque(kept).takeUnretainedValue()
    }
    guard let text = values[1].flatMap(SQLFunction.text) else { return nil }
    let made = KeptQuery(SearchQuery(text))
    // SQLite may call the release at once, so that the object is kept by this function as well.
    trellis_sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(made).toOpaque()) { pointer in
      if let pointer { Unmanaged<KeptQuery>.fromOpaque(pointer).release() }
    }
    return made
  }
}
