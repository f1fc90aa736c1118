import TrellisModel
import TrellisRuntime
@_spi(Generated) import TrellisStorage

/// A save of a store's history, as text and as JSON.
struct SaveText {
  private let save: HistoryTransaction
  private let inserted: Int
  private let updated: Int
  private let deleted: Int

  init(_ save: HistoryTransaction) {
    self.save = save
    var counts = (0, 0, 0)
    for change in save.changes {
      switch change {
      case .inserted: counts.0 += 1
      case .updated: counts.1 += 1
      case .deleted: counts.2 += 1
      }
    }
    (inserted, updated, deleted) = counts
  }

  static let titles = ["save", "date", "author", "inserted", "updated", "deleted", ""]
  /// The columns of numbers.
  static let numbers: Set<Int> = [0, 3, 4, 5]

  var cells: [String] {
    [
      "\(save.token.transaction)", date, save.author ?? "-", "\(inserted)", "\(updated)", "\(deleted)",
      save.isComplete ? "" : "and others, which are not listed",
    ]
  }

  private var date: String { DateText.text(save.date.storedValue) }

  /// The save in a line, for what happened to one object.
  func line(_ change: String) -> String {
    "save \(save.token.transaction), \(date)\(save.author.map { ", \($0)" } ?? ""): \(change)\n"
  }

  var members: [(key: String, value: String)] {
    [
      ("save", "\(save.token.transaction)"), ("token", JSONText.quoted("\(save.token)")),
      ("date", JSONText.quoted(date)), ("author", save.author.map(JSONText.quoted) ?? "null"),
    ]
  }

  var json: String {
    JSONText.object(
      members + [
        ("inserted", "\(inserted)"), ("updated", "\(updated)"), ("deleted", "\(deleted)"),
        ("isComplete", "\(save.isComplete)"),
      ])
  }
}

extension DateText {
  static func text(_ value: StoredValue) -> String {
    if case .integer(let time) = value { text(time) } else { "" }
  }
}
