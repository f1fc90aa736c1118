import Foundation
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// A file with a store, which carries its model.
struct StoreFile {
  /// How a file keeps its objects.
  enum Kind {
    case sqlite, document

    /// The kind of a file, by its first bytes.
    init(of url: URL) {
      let file = try? FileHandle(forReadingFrom: url)
      defer { try? file?.close() }
      self = (try? file?.read(upToCount: 16)) == Data("SQLite format 3\u{0}".utf8) ? .sqlite : .document
    }
  }

  let path: String
  let kind: Kind
  let model: Model

  var url: URL { URL(fileURLWithPath: path) }

  /// Reads the model that a store carries. Nothing is written to the file.
  ///
  /// - Throws: ``ToolFailure`` if there is no such store.
  init(_ path: String) throws(ToolFailure) {
    self.path = path
    try InputFile.needRegular(path)
    let url = URL(fileURLWithPath: path)
    kind = Kind(of: url)
    do {
      switch kind {
      case .sqlite: model = try SQLiteStore.storedModel(at: url)
      case .document: model = try DocumentSource(try Data(contentsOf: url, options: .mappedIfSafe), path: path).model
      }
    } catch {
      throw ToolFailure(store: error, path)
    }
  }

  /// How the store is opened with its own model.
  ///
  /// - Parameter isReadOnly: Whether nothing is written to the file.
  func configuration(readOnly isReadOnly: Bool) -> StoreConfiguration {
    switch kind {
    case .sqlite: .sqlite(at: url, readOnly: isReadOnly)
    case .document: .json(at: url, readOnly: isReadOnly)
    }
  }

  /// Opens the store with objects that need no generated code.
  ///
  /// - Throws: ``ToolFailure``.
  func container(readOnly isReadOnly: Bool) throws(ToolFailure) -> PersistentContainer {
    do {
      return try PersistentContainer(
        model: ObjectModel(dynamic: model.description, checksum: model.checksum),
        store: configuration(readOnly: isReadOnly), log: nil)
    } catch {
      throw ToolFailure(store: error, path)
    }
  }

  /// Opens the store without its object graph.
  ///
  /// - Throws: ``ToolFailure``.
  func store(readOnly isReadOnly: Bool) throws(ToolFailure) -> any Store {
    do { return try configuration(readOnly: isReadOnly).open(model) } catch { throw ToolFailure(store: error, path) }
  }
}

extension StoreFile {
  /// What breaks the rules of the store's model, and what is damaged.
  func findings(limit: Int) throws(ToolFailure) -> [StoreFinding] {
    let container = try container(readOnly: true)
    defer { container.close() }
    do { return try container.check(limit: limit) } catch { throw ToolFailure(store: error, path) }
  }
}

extension ToolFailure {
  /// The failure of an operation on a store.
  init(store error: any Error, _ path: String) {
    if let failure = error as? ToolFailure {
      self = failure
    } else if let error = error as? StoreError {
      self.init(error.code == .cannotOpen ? .unreadable : .failure, "error: \(error)")
    } else {
      self.init(.failure, "error: \(path): \(error)")
    }
  }
}
