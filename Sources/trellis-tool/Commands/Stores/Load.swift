import Foundation
import TrellisJSON
import TrellisModel
import TrellisPostgres
import TrellisRuntime
import TrellisStorage

/// `trellis load` and `trellis copy`: a new store with the rows of a document, or of another store.
enum Load {
  /// - Parameter keepsBroken: Whether a store is kept that breaks rules of its model.
  static func run(_ document: String, into path: String, keepsBroken: Bool) throws(ToolFailure) -> ExitStatus {
    let source = try source(document)
    let target = try NewStore(path)
    return try target.fill(keepsBroken: keepsBroken) { () throws(ToolFailure) in
      try write(source.model, source.lineage, into: target) { writer, progress in
        try source.transfer(to: writer, progress: progress)
      }
    }
  }

  /// Writes rows into a new store of any kind.
  static func write(
    _ model: Model, _ lineage: StoreLineage, into target: NewStore,
    _ body: (_ writer: any BulkWriter, _ progress: (Int) -> Void) throws -> Void
  ) throws(ToolFailure) {
    switch target.kind {
    case .sqlite, .server: try load(model, lineage, into: target, body)
    case .document:
      // A store in memory on the way would not show the positions of mistakes.
      let place = try TemporaryStore(model)
      defer { place.remove() }
      try load(model, lineage, into: place.store, body)
      try dump(place.store.path, to: target.path)
    }
  }

  /// The copy is as right as the store: keys, unique keys and references are checked on the way, and no more.
  ///
  /// - Parameter mayBePlain: Whether the copy of an encrypted store may be one that is not.
  static func copy(_ from: String, to path: String, mayBePlain: Bool) throws(ToolFailure) -> ExitStatus {
    let file = try StoreOperand(from)
    let target = try NewStore(path)
    guard file.key == nil || target.key != nil || mayBePlain else {
      throw ToolFailure(
        .failure,
        "error: \(file.name) is encrypted, and \(path) would not be. Give a key in TRELLIS_NEW_KEY, or say --plain.")
    }
    return try target.fill(keepsBroken: true, isChecked: false) { () throws(ToolFailure) in
      switch target.kind {
      case .sqlite, .server:
        let store = try file.store(readOnly: true)
        defer { store.close() }
        do {
          let source = try TransferConnection.open(store)
          defer { source.unpin() }
          try load(file.model, try source.lineage(), into: target) { writer, progress in
            try source.transfer(file.model, to: writer, progress: progress)
          }
        } catch {
          throw ToolFailure(store: error, file.name)
        }
      case .document: try dump(from, to: path)
      }
    }
  }

  private static func dump(_ from: String, to path: String) throws(ToolFailure) {
    let file = try StoreOperand(from)
    let store = try file.store(readOnly: true)
    defer { store.close() }
    try Dump.write(store, of: file, to: path)
  }

  private static func source(_ path: String) throws(ToolFailure) -> DocumentSource {
    do {
      if path == "-" {
        return try DocumentSource(try FileHandle.standardInput.readToEnd() ?? Data(), path: "the standard input")
      }
      try InputFile.needRegular(path, mayBePipe: true)
      return try DocumentSource(try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe), path: path)
    } catch {
      throw ToolFailure(store: error, path)
    }
  }

  private static func load(
    _ model: Model, _ lineage: StoreLineage, into target: NewStore,
    _ body: (_ writer: any BulkWriter, _ progress: (Int) -> Void) throws -> Void
  ) throws(ToolFailure) {
    let progress = Progress("objects and pairs")
    defer { progress.end() }
    do {
      let opened = try target.configuration.open(model)
      defer { opened.close() }
      let fill = { (writer: any BulkWriter) throws in try body(writer, progress.show) }
      if let store = opened as? SQLiteStore { try store.load(lineage, fill) }
      if let store = opened as? PostgresStore { try store.load(lineage, fill) }
    } catch {
      throw ToolFailure(store: error, target.path)
    }
  }
}

/// A store in a file that is used on the way.
private struct TemporaryStore {
  let store: NewStore

  init(_ model: Model) throws(ToolFailure) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-\(UUID().uuidString)")
    do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
      throw OutputFile.unwritable(folder.path, "it cannot be created")
    }
    store = try NewStore(folder.appending(path: "store.db").path)
  }

  func remove() {
    try? FileManager.default.removeItem(at: URL(fileURLWithPath: store.path).deletingLastPathComponent())
  }
}

// MARK: - Command

extension Load {
  static let command = Command(
    operands: "DOCUMENT STORE", needed: "a DOCUMENT and the name of a STORE", count: 2...2,
    options: [.init(name: "force", value: nil, summary: "keep the new store even if it breaks rules of its model")],
    summary: "make a store from a JSON document",
    details: """
      A DOCUMENT is what `dump` writes or `.json(at:)` keeps; `-` is the input. STORE is a new SQLite file, a document if
      its name ends in `.json`, or a new schema of a server. The new store is checked by the rules of its model; one that breaks rules is not kept.
      Exit 0 if all is well, 1 if the document has mistakes or breaks rules.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], into: arguments.operands[1], keepsBroken: arguments.has("force"))
  }

  static let copying = Command(
    operands: "STORE NEW", needed: "a STORE and the name of a NEW one", count: 2...2,
    options: [.init(name: "plain", value: nil, summary: "decrypt an encrypted store")],
    summary: "make a store from another one",
    details: """
      NEW is a new SQLite file, a document if its name ends in `.json`, or a new schema of a server. Keys, versions, order
      and external data are kept. Programs may go on using STORE. A SQLite file is encrypted with the key in TRELLIS_NEW_KEY,
      or in the file that TRELLIS_NEW_KEY_FILE names.
      """
  ) { arguments throws(ToolFailure) in
    try copy(arguments.operands[0], to: arguments.operands[1], mayBePlain: arguments.has("plain"))
  }
}
