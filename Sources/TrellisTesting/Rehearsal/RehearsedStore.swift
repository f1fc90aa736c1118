import Foundation
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// A file with a store that a rehearsal copies and migrates.
struct RehearsedStore {
  enum Kind { case sqlite, document }

  let url: URL
  let kind: Kind

  /// The endings of the files of a store.
  private static let endings = ["", "-wal", "-shm", "-journal", ".external"]

  init(_ url: URL, _ kind: Kind) {
    self.url = url
    self.kind = kind
  }

  /// The store in a file; nil for a file that is none.
  init?(at url: URL) {
    guard let file = try? FileHandle(forReadingFrom: url) else { return nil }
    defer { try? file.close() }
    let start = (try? file.read(upToCount: 64)) ?? Data()
    if start.starts(with: Data("SQLite format 3\0".utf8)) {
      self.init(url, .sqlite)
    } else if String(decoding: start, as: UTF8.self).filter({ !$0.isWhitespace }).hasPrefix("{\"trellis\":") {
      self.init(url, .document)
    } else {
      return nil
    }
  }

  /// Whether a file belongs to a store beside it.
  static func isPart(_ name: String) -> Bool {
    name.hasPrefix(".") || endings.dropFirst().contains { name.hasSuffix($0) } || name.contains(".before-")
  }

  func configuration(readOnly: Bool = false, _ migration: MigrationPolicy = .automatic) -> StoreConfiguration {
    switch kind {
    case .sqlite: .sqlite(at: url, durability: .relaxed, readOnly: readOnly, migration: migration)
    case .document: .json(at: url, durability: .relaxed, readOnly: readOnly, migration: migration)
    }
  }

  /// The model that the store carries.
  ///
  /// - Throws: ``StoreError``.
  func model() throws -> Model {
    switch kind {
    case .sqlite: try SQLiteStore.storedModel(at: url)
    case .document: try DocumentSource(try Data(contentsOf: url), path: url.path).model
    }
  }

  /// All objects, read without writing anything.
  ///
  /// - Throws: ``StoreError``.
  func image(_ model: Model) throws -> StoreImage {
    let store = try configuration(readOnly: true).open(model)
    defer { store.close() }
    return try StoreImage(store, model)
  }

  /// A copy in another folder.
  func copy(to folder: URL) throws -> RehearsedStore {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let name = kind == .sqlite ? "store.sqlite" : "store.json"
    for ending in Self.endings where FileManager.default.fileExists(atPath: url.path + ending) {
      try FileManager.default.copyItem(
        at: URL(fileURLWithPath: url.path + ending), to: folder.appending(path: name + ending))
    }
    return RehearsedStore(folder.appending(path: name), kind)
  }
}
