import Foundation
import TrellisTestSupport

@testable import Trellis
@testable import TrellisPostgres
@testable import TrellisRuntime

/// A store with notes in a file of its own.
struct Notebook {
  let folder: TestFolder
  let container: PersistentContainer

  init(_ model: ObjectModel = .notebook, folder: TestFolder? = nil, _ kind: StoreKind = .sqlite) throws {
    let folder = try folder ?? TestFolder()
    self.folder = folder
    container = try PersistentContainer(model: model, store: kind.configuration(in: folder, durability: .durable))
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
    try settle()
    return result
  }

  func settle() throws { try container.settle() }

  func news(since token: HistoryToken) throws -> [HistoryTransaction] {
    try settle()
    return try container.history(since: token)
  }
}

extension PersistentContainer {
  /// Waits until a server tells of all saves: transactions of other tests may have begun before.
  func settle() throws {
    guard let store = core.store as? PostgresStore, store.history != nil else { return }
    let history = store.setup.layout.names.history
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      let isSettled = try store.pool.withConnection { connection in
        try connection.run(
          ServerStatement(
            "SELECT coalesce(max(\"number\"), 0) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint FROM \(history)"
          )
        ).integer(0, 0)
      }
      if isSettled == 1 { return }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }
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
