package import Foundation
package import TrellisModel
package import TrellisStorage

/// A document that is read from its start to its end, without a state in memory.
package struct DocumentSource {
  private let data: Data
  private let path: String
  private let document: DocumentLayout
  /// The model that the document was written with.
  package var model: Model { document.model }
  package let lineage: StoreLineage

  /// Reads the head of a document.
  ///
  /// - Parameters:
  ///   - data: the document, which may be mapped from a file.
  ///   - path: the path for messages. Files of external data are looked for beside it.
  /// - Throws: ``StoreError`` with the position of the mistake.
  /// - Complexity: linear in the size of the document, which is scanned once.
  package init(_ data: Data, path: String) throws(StoreError) {
    self.data = data
    self.path = path
    let head = try Self.withBytes(of: data, path) { bytes throws(DocumentFault) in try Self.head(bytes, path) }
    let folder = ExternalFolder(
      besides: path, largestInRow: ExternalFolder.usualLargestInRow, files: SystemFiles())
    document = try DocumentLayout(head.model, head.model.hasExternalData ? folder : nil)
    lineage = StoreLineage(nextKey: head.nextKey, former: head.former.map(\.transferred))
  }

  private struct Head {
    let model: Model
    let nextKey: Int64
    let former: [DocumentLineage.FormerModel]
  }

  private static func head(_ bytes: UnsafeBufferPointer<UInt8>, _ path: String) throws(DocumentFault) -> Head {
    let nothing: DocumentLayout
    do { nothing = try DocumentLayout(try Model(ModelDescription(name: ""))) } catch {
      throw DocumentFault("no layout can be made: \(error)", at: 0, .internalError)
    }
    var finder = DocumentReader(bytes, nothing, NoRows())
    try finder.find()
    try finder.checkFeatures(path)
    let model = try finder.storedModel(try finder.text(of: DocumentFormat.checksum))
    let layout: DocumentLayout
    do throws(StoreError) { layout = try DocumentLayout(model) } catch {
      throw DocumentFault(String(error.message.dropLast()), at: 0, error.code)
    }
    var reader = DocumentReader(continuing: finder, with: layout, NoRows())
    try reader.readHead(path)
    return Head(model: model, nextKey: reader.nextKey, former: reader.lineage.former)
  }

  /// Passes all rows and pairs to a writer.
  ///
  /// - Parameter progress: receives the number of rows and pairs that were passed, after each thousand and at the end.
  /// - Throws: ``StoreError`` with the position of the mistake in the document, or of the row that the writer refuses.
  /// - Complexity: linear in the size of the document.
  package func transfer(
    to writer: any BulkWriter, progress: (_ count: Int) -> Void = { _ in }
  ) throws(StoreError) {
    // Sound because the closure is used within this call only.
    try withoutActuallyEscaping(progress) { progress throws(StoreError) in
      try Self.withBytes(of: data, path) { bytes throws(DocumentFault) in
        var reader = DocumentReader(bytes, document, StreamedRows(writer, progress))
        try reader.find()
        try reader.readHead(path)
        try reader.readRows()
        progress(reader.loading.count)
      }
    }
  }

  private static func withBytes<Result>(
    of data: Data, _ path: String, _ body: (UnsafeBufferPointer<UInt8>) throws(DocumentFault) -> Result
  ) throws(StoreError) -> Result {
    let result = data.withUnsafeBytes { raw in
      raw.withMemoryRebound(to: UInt8.self) { bytes -> Swift.Result<Result, StoreError> in
        do throws(DocumentFault) { return .success(try body(bytes)) } catch {
          return .failure(error.error(path, bytes))
        }
      }
    }
    return try result.get()
  }
}

/// Ignores all rows: only the head of a document is read.
private struct NoRows: DocumentRows {
  func add(_ row: MemoryRow, at offset: Int, _ bytes: UnsafeBufferPointer<UInt8>) {}
  func checkReferences(_ bytes: UnsafeBufferPointer<UInt8>) {}
  func add(_ pair: SaveRequest.Pairs.Pair, to table: Int, at offset: Int) {}
  func checkSymmetry(of table: Int, _ offsets: [Int], _ bytes: UnsafeBufferPointer<UInt8>) {}
}

/// Passes each row and pair on as soon as it is read. The target checks references.
private struct StreamedRows: DocumentRows {
  private let writer: any BulkWriter
  private let progress: (Int) -> Void
  private let reader = ValueReader()
  private(set) var count = 0

  init(_ writer: any BulkWriter, _ progress: @escaping (Int) -> Void) {
    self.writer = writer
    self.progress = progress
  }

  mutating func add(
    _ row: MemoryRow, at offset: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(DocumentFault) {
    reader.show(key: row.key, version: row.version, entity: row.entity, values: row.values)
    try pass(offset) { [writer, reader] in try writer.add(reader) }
  }

  func checkReferences(_ bytes: UnsafeBufferPointer<UInt8>) {}

  mutating func add(_ pair: SaveRequest.Pairs.Pair, to table: Int, at offset: Int) throws(DocumentFault) {
    try pass(offset) { [writer] in try writer.add(pair, to: table) }
  }

  func checkSymmetry(of table: Int, _ offsets: [Int], _ bytes: UnsafeBufferPointer<UInt8>) {}

  private mutating func pass(_ offset: Int, _ body: () throws -> Void) throws(DocumentFault) {
    do {
      try body()
    } catch let error as StoreError {
      throw DocumentFault(
        String(error.message.dropLast()), at: offset, error.code, entity: error.entity, properties: error.properties)
    } catch {
      throw DocumentFault("the object cannot be stored: \(error)", at: offset, .internalError)
    }
    count += 1
    if count % 1_000 == 0 { progress(count) }
  }
}

// MARK: - Writing

/// A document that is written from its start to its end, without a state in memory.
package enum DocumentStream {
  /// Writes the contents of a store as a document. Data in files is written into the document, so that it is complete
  /// by itself.
  ///
  /// - Parameters:
  ///   - source: a connection, pinned if the store can be written meanwhile.
  ///   - model: the model of the store.
  ///   - progress: receives the number of rows and pairs that were written, after each thousand and at the end.
  ///   - receive: receives the text in pieces of some hundred kilobytes.
  /// - Throws: ``StoreError``, or errors of `receive`.
  /// - Complexity: linear in the size of the store. One piece is in memory at a time.
  package static func write(
    _ source: any TransferSource, _ model: Model, progress: (_ count: Int) -> Void = { _ in },
    to receive: ([UInt8]) throws -> Void
  ) throws {
    let lineage = try source.lineage()
    let recorded = DocumentLineage(former: lineage.former.map(DocumentLineage.FormerModel.init))
    let layout = try DocumentLayout(model)
    var failure: (any Error)?
    let counter = StreamCounter()
    do {
      try withoutActuallyEscaping(receive) { receive in
        try withoutActuallyEscaping(progress) { progress in
          counter.progress = progress
          defer { counter.progress = nil }
          var writer = DocumentWriter(
            document: layout, contents: StreamContents(source: source, model: model, counter: counter),
            nextKey: lineage.nextKey,
            lineage: recorded,
            target: .stream { piece throws(StoreError) in
              do { try receive(copy piece) } catch {
                failure = error
                throw StoreError(.inputOutput, "The document cannot be written.", remedy: "Check the disk.")
              }
            })
          try writer.stream()
          progress(counter.count)
        }
      }
    } catch {
      throw failure ?? error
    }
  }
}

private final class StreamCounter {
  private(set) var count = 0
  var progress: ((Int) -> Void)?

  func step() {
    count += 1
    if count % 1_000 == 0 { progress?(count) }
  }
}

/// The contents of a store as a connection reads them.
private struct StreamContents: DocumentContents {
  let source: any TransferSource
  let model: Model
  let counter: StreamCounter

  /// A row as its reader shows it. A value that cannot be read is noted, and null.
  struct Row: DocumentRow {
    let reader: RowReader
    let columns: [Column]
    let failures: Failures

    var key: Int64 { reader.key }
    var version: Int64 { reader.version }
    var entity: Int { reader.entity }

    func value(_ column: Int) -> StoredValue {
      switch reader.value(column, columns[column].storageClass) {
      // Not every store keeps the sign of zero, and a dump is the same for all of them.
      case .real(0): return .real(0)
      case .file(let file):
        do {
          return .blob(try StreamContents.bytes(of: file))
        } catch {
          let named = (error as? StoreError)?.at(failures.entity, key, columns[column].name)
          failures.first = failures.first ?? named ?? error
        }
        return .null
      case let value: return value
      }
    }
  }

  /// The first failure to load a file.
  final class Failures {
    var first: (any Error)?
    let entity: String

    init(_ entity: String) { self.entity = entity }
  }

  func forEachRow(of entity: Entity, _ body: (Row) -> Bool) throws(StoreError) {
    let failures = Failures(entity.name)
    try Self.storeErrors {
      let request = StoreRequest(entity: entity.index, includesSubentities: false)
      let columns = entity.columns
      try source.fetch(request) { reader in
        reader.problem = nil
        counter.step()
        let goesOn = body(Row(reader: reader, columns: columns, failures: failures))
        if let failure = failures.first { throw failure }
        if let error = reader.unreadableValue(in: model, of: "The store") { throw error }
        if !goesOn { throw Ended() }
      }
    }
  }

  func forEachPair(of table: Int, _ body: (SaveRequest.Pairs.Pair) -> Bool) throws(StoreError) {
    try Self.storeErrors {
      try source.pairs(of: table) { pair in
        counter.step()
        guard body(pair) else { throw Ended() }
      }
    }
  }

  /// Thrown where a body ends the iteration.
  private struct Ended: Error {}

  private static func storeErrors(_ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch is Ended {
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.inputOutput, "The store cannot be read: \(error).", remedy: "Check the store.")
    }
  }

  private static func bytes(of file: ExternalFile) throws -> [UInt8] {
    guard let origin = file.origin else {
      throw StoreError(
        .inputOutput, "The file \(file.digest.text) with external data is not known.",
        remedy: "Put the folder of external data beside the store.")
    }
    return try origin.bytes(of: file)
  }
}
