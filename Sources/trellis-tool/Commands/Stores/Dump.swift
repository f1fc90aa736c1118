import TrellisJSON
import TrellisModel
import TrellisStorage

/// `trellis dump`: everything in a store as a JSON document.
enum Dump {
  static func run(_ path: String, to output: String?) throws(ToolFailure) -> ExitStatus {
    let file = try StoreOperand(path)
    let store = try file.store(readOnly: true)
    defer { store.close() }
    if let output {
      try write(store, of: file, to: output)
    } else {
      do { try write(store, of: file) { piece in try Console.print(piece) } } catch {
        throw ToolFailure(store: error, file.name)
      }
    }
    return .success
  }

  /// Writes a store to a document that takes its name when it is complete.
  static func write(_ store: any Store, of file: StoreOperand, to path: String) throws(ToolFailure) {
    do {
      try OutputFile.create(path) { receive in try write(store, of: file, to: receive) }
    } catch {
      throw ToolFailure(store: error, file.name)
    }
  }

  private static func write(_ store: any Store, of file: StoreOperand, to receive: ([UInt8]) throws -> Void) throws {
    let progress = Progress("objects and pairs")
    defer { progress.end() }
    let source = try TransferConnection.open(store)
    defer { source.unpin() }
    try DocumentStream.write(source, file.model, progress: progress.show, to: receive)
  }
}

/// A connection that shows the store as it is at one moment.
enum TransferConnection {
  static func open(_ store: any Store) throws -> any TransferSource {
    guard let source = try store.connect() as? any TransferSource else {
      throw StoreError(.unsupported, "\(store.name) cannot be copied.", remedy: "Use a SQLite store or a document.")
    }
    try source.pin()
    return source
  }
}

// MARK: - Command

extension Dump {
  static let command = Command(
    operands: "STORE", needed: "a STORE", count: 1...1,
    options: [.init(name: "output", value: "FILE", summary: "write to a new file instead of the output")],
    summary: "write everything in a store as a JSON document",
    details: """
      The document is one that `.json(at:)` opens: keys, versions, order and the history of the model are kept, and
      external data is written into it. The same contents give the same document, whatever kind of store has them.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], to: arguments.value(of: "output"))
  }
}
