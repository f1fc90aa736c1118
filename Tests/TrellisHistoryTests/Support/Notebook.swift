import Foundation
import TrellisTestSupport

@testable import Trellis

/// A store with notes in a file of its own.
struct Notebook {
  let folder: TestFolder
  let container: PersistentContainer

  init(_ model: ObjectModel = .notebook, folder: TestFolder? = nil) throws {
    let folder = try folder ?? TestFolder()
    self.folder = folder
    container = try PersistentContainer(model: model, store: .sqlite(at: folder.file("store.sqlite")))
  }

  var url: URL { folder.file("store.sqlite") }
  var other: OtherProgram { get throws { try OtherProgram(url) } }

  /// Runs a closure with a new context and saves it.
  @discardableResult func save<Result>(
    by author: String? = nil, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = container.newContext()
    context.author = author
    let result = try body(context)
    try context.save()
    return result
  }

  func news(since token: HistoryToken) throws -> [HistoryTransaction] { try container.history(since: token) }
}

/// A change as a line: `inserted Note#3`, `updated Note#3 [text]`, `deleted Note#3 {remoteID: a}`.
func line<ID>(_ change: HistoryChange<ID>) -> String {
  switch change {
  case .inserted(let id): return "inserted \(id)"
  case .updated(let id, let properties): return "updated \(id) [\(properties.sorted().joined(separator: " "))]"
  case .deleted(let id, let tombstone):
    let kept = tombstone.attributes.map { "\($0): \(tombstone.value(of: $0, as: String.self) ?? "nil")" }
    return "deleted \(id)" + (kept.isEmpty ? "" : " {\(kept.joined(separator: ", "))}")
  }
}

extension HistoryTransaction {
  var lines: [String] { changes.map(line) }
}
