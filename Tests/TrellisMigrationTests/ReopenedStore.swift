import Foundation
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisPostgres
import TrellisTestSupport

@testable import TrellisStorage

/// A store of each kind that is opened with several models, one after the other.
final class ReopenedStore {
  enum Kind: CaseIterable, CustomStringConvertible {
    case file, document, schema

    /// The kinds that this machine has.
    static var present: [Kind] { TestServer.isThere ? allCases : [.file, .document] }

    var description: String {
      switch self {
      case .file: "file"
      case .document: "document"
      case .schema: "schema on a server"
      }
    }
  }

  private let kind: Kind
  private let folder: TestFolder
  private let schema = TestServer.newSchema()

  init(_ kind: Kind) throws {
    self.kind = kind
    folder = try TestFolder()
  }

  func configuration(_ migration: MigrationPolicy = .automatic) -> StoreConfiguration {
    switch kind {
    case .file: .sqlite(at: folder.file("store.db"), migration: migration)
    case .document: .json(at: folder.file("store.json"), migration: migration)
    case .schema: .postgres(TestServer.url, schema: schema, connections: 1, timeout: 300, migration: migration)
    }
  }

  /// Opens the store and closes it again.
  ///
  /// - Returns: what it holds.
  @discardableResult func open(_ model: Model, saving records: (Entity) -> [PlainRecord] = { _ in [] }) throws
    -> StoreContents
  {
    let store = try configuration().open(model)
    defer { store.close() }
    let found = records(model.entities[0])
    if !found.isEmpty {
      _ = try store.reserveKeys(100)
      let request = SaveRequest()
      request.inserts.append(.init(entity: 0, records: found))
      _ = try store.connect().save(request)
    }
    return try StoreContents(store, model) { _ in [] }
  }

  func refusal(_ model: Model) throws -> StoreError? {
    do {
      try open(model)
      return nil
    } catch let error as StoreError {
      return error
    }
  }
}

/// The reason why a text is no model: what the check says of it.
struct ModelMessages: Error, CustomStringConvertible {
  let description: String
}

extension Model {
  /// A model as its file has it.
  static func read(_ text: String) throws -> Model {
    let result = ModelFile.parse(Array(text.utf8), path: "M")
    guard let description = result.description else { throw ModelMessages(description: result.rendered() + text) }
    return try Model(description)
  }
}
