import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@testable import TrellisPictureLoop

/// A folder with an album in a store whose large data lies in files.
final class AlbumStore {
  enum Kind: CaseIterable { case sqlite, json }

  /// Above so many bytes data lies in a file.
  static let limit = 1_000

  let kind: Kind
  let home: TestFolder
  var file: URL { home.file("album.store") }
  var folder: URL { home.file("album.store.external") }

  init(_ kind: Kind) throws {
    self.kind = kind
    home = try TestFolder()
  }

  func open(
    _ file: URL? = nil, limit: Int = AlbumStore.limit, readOnly: Bool = false,
    onError: @escaping @Sendable (ContextError) -> Void = { _ in }
  ) throws -> PersistentContainer {
    let file = file ?? self.file
    let store: StoreConfiguration =
      switch kind {
      case .sqlite: .sqlite(at: file, readOnly: readOnly, filesAbove: limit)
      case .json: .json(at: file, readOnly: readOnly, filesAbove: limit)
      }
    return try PersistentContainer(model: .album, store: store, log: nil, onError: onError)
  }

  /// The names of the files with data.
  func files(_ folder: URL? = nil) throws -> Set<String> {
    let path = (folder ?? self.folder).path
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return Set(names.filter { $0 != "lock" && $0 != "uncollected" })
  }

  static func bytes(_ count: Int, _ seed: Int = 0) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed &+ $0 >> 8) })
  }
}
