import TrellisSQL
import TrellisStorage

extension SQLiteConnection {
  /// Indexes the texts changed by this transaction, and those changed by other programs since the last one.
  ///
  /// - Complexity: linear in the marked texts.
  func indexMarkedTexts() throws {
    guard !layout.search.isEmpty else { return }
    let found = try statement(.findMarks, 0) { SearchPlan.findMarks }
    guard try run(found, { try database.step($0, doing: "look for changed texts") }) else { return }
    for (number, text) in layout.search.indexMarked.enumerated() {
      let statement = try statement(.indexMarked, number) { text }
      _ = try run(statement) { try database.step($0, doing: "index changed texts") }
    }
  }
}
