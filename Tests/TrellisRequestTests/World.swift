import Foundation
import Trellis

/// The stores in which every rule must hold.
enum AnyStore: String, CaseIterable, Sendable {
  case memory, json, sqlite
}

/// A container of its own, emptied when nobody needs it any more.
final class World {
  let container: PersistentContainer
  let context: ManagedObjectContext
  private let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-requests-\(UUID().uuidString)")

  init(_ store: AnyStore, log: QueryLog? = nil) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "store")
    let configuration: StoreConfiguration =
      switch store {
      case .memory: .memory
      case .json: .json(at: file)
      case .sqlite: .sqlite(at: file, durability: .relaxed)
      }
    container = try PersistentContainer(model: .requests, store: configuration, log: log) { _ in }
    context = container.newContext()
  }

  deinit {
    container.close()
    try? FileManager.default.removeItem(at: folder)
  }

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

/// Deterministic numbers, so that a printed seed plays a failure again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
}

/// A number from the environment, for longer runs.
func environmentNumber(_ name: String, or usual: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? usual
}
