package import Trellis
import TrellisJSON

/// The stores that rules are tried on.
package enum StoreKind: String, CaseIterable, Sendable {
  case memory, sqlite, json

  /// The stores that do not write everything at each save.
  package static let inPlace = [memory, sqlite]

  /// A store in a folder. A store in memory is one of its own, whatever the folder.
  package func configuration(in folder: TestFolder, durability: Durability = .relaxed) -> StoreConfiguration {
    switch self {
    case .memory: .memory
    case .sqlite: .sqlite(at: folder.file("store.sqlite"), durability: durability)
    case .json: .json(at: folder.file("store.json"), durability: durability)
    }
  }
}
