import Foundation
import Trellis
import TrellisJSON
import TrellisTestSupport

/// The stores in which every rule must hold.
enum AnyStore: String, CaseIterable, Sendable {
  case memory, json, sqlite
}

/// A container of its own, emptied when nobody needs it any more.
final class World {
  let container: PersistentContainer
  let context: ManagedObjectContext
  private let folder: TestFolder

  init(_ store: AnyStore, log: QueryLog? = nil) throws {
    folder = try TestFolder()
    let file = folder.file("store")
    let configuration: StoreConfiguration =
      switch store {
      case .memory: .memory
      case .json: .json(at: file)
      case .sqlite: .sqlite(at: file, durability: .relaxed)
      }
    container = try PersistentContainer(model: .requests, store: configuration, log: log) { _ in }
    context = container.newContext()
  }

  deinit { container.close() }

  /// Items named a, b, c … with counts 0, 1, 2 …
  @discardableResult func items(_ count: Int) throws -> [Item] {
    let items = (0..<count).map { number in
      let item = Item(in: context)
      item.name = String(UnicodeScalar(UInt8(97 + number % 26)))
      item.count = Int64(number)
      return item
    }
    try context.save()
    return items
  }
}
