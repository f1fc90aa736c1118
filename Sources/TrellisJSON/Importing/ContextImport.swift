public import Foundation
@_spi(Generated) public import TrellisRuntime

extension ManagedObjectContext {
  /// Imports objects from JSON data, as the model's mapping says, and saves them.
  ///
  /// ```swift
  /// let report = try context.importJSON(Pokemon.self, from: data, at: "results[*]")
  /// print(report.inserted.count, report.updated.count, report.unchanged.count)
  /// for failure in report.rejected { print(failure) }
  /// ```
  /// Objects are found by the unique key that the mapping names; what is absent in the input stays as it is. The policy
  /// says what happens to an object that the store has:
  ///
  /// | policy | |
  /// |---|---|
  /// | `objectTrump` | the values of the input win |
  /// | `storeTrump` | the input fills properties that are nil, and adds members |
  /// | `overwrite` | the values of the input win, and absent attributes get their default, or nil |
  /// | `rollback` | the object stays as it is |
  /// | `error` | the object of the input is rejected |
  ///
  /// References may lead to objects that come later in the input. Nothing is written for an object that has all values.
  ///
  /// - Parameters:
  ///   - type: The entity of the elements.
  ///   - data: The input, in UTF-8.
  ///   - path: The path from the document to the elements, such as `results[*]`, with keys, `[*]` and positions. Nil for
  ///     the elements of a list, or the document itself if it is no list.
  ///   - layout: How elements are separated.
  ///   - mergePolicy: The policy for objects that the store has, and for conflicts with other contexts.
  ///   - rejection: What happens if an object cannot be imported.
  ///   - progress: Called after each batch of about a thousand elements or 4 MB.
  /// - Returns: what was done, and what was left out.
  /// - Throws: ``JSONImportError`` if the model has no mapping for the entity, if the context has unsaved changes, and for
  ///   `rejecting: .everything` with every failure; the errors of ``ManagedObjectContext/save(mergePolicy:)``. Batches
  ///   that were saved before stay saved; nothing else remains in the context.
  /// - Complexity: linear in the number of bytes. One request for each unique key and one save a batch.
  @discardableResult public func importJSON<Object: ManagedObject>(
    _ type: Object.Type, from data: Data, at path: String? = nil, layout: JSONLayout = .document,
    mergePolicy: MergePolicy = .objectTrump, rejecting rejection: JSONRejection = .objects,
    progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    let input = JSONInput(.objects(of: type), from: data, named: nil, at: path, layout: layout)
    return try importJSON([input], mergePolicy: mergePolicy, rejecting: rejection, progress: progress)
  }

  /// Imports objects from a JSON file, as from data. The file is read piece by piece, whatever its size.
  ///
  /// - Parameters:
  ///   - url: The URL of a file. Failures name it by its last component.
  ///   - layout: How elements are separated; nil for lines if the name ends in `.ndjson` or `.jsonl`, otherwise a
  ///     document.
  /// - Throws: also the errors of the file system.
  @discardableResult public func importJSON<Object: ManagedObject>(
    _ type: Object.Type, from url: URL, at path: String? = nil, layout: JSONLayout? = nil,
    mergePolicy: MergePolicy = .objectTrump, rejecting rejection: JSONRejection = .objects,
    progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    let input = JSONInput(type, from: url, at: path, layout: layout)
    return try importJSON([input], mergePolicy: mergePolicy, rejecting: rejection, progress: progress)
  }

  /// Imports the objects of several inputs, as those of one.
  ///
  /// ```swift
  /// let report = try context.importJSON([JSONInput(Author.self, from: authors), JSONInput(Book.self, from: books)])
  /// ```
  /// The inputs are one import: a reference may lead to an object of any input, so objects that require each other may be
  /// in different files, in any order. What has lost its owner is judged after the last input. An object that several
  /// inputs have is imported as one that comes several times in one input.
  ///
  /// - Parameters:
  ///   - inputs: The inputs, which are read one after the other.
  ///   - mergePolicy: The policy for objects that the store has, and for conflicts with other contexts.
  ///   - rejection: What happens if an object cannot be imported.
  ///   - progress: Called after each batch. No batch has elements of two inputs.
  /// - Returns: what was done, and what was left out, of all inputs.
  /// - Throws: also the errors of the file system. That a file is missing or may not be read is found out before anything
  ///   is imported.
  /// - Complexity: linear in the number of bytes. Memory holds a batch, and the elements with objects that wait for others.
  @discardableResult public func importJSON(
    _ inputs: [JSONInput], mergePolicy: MergePolicy = .objectTrump, rejecting rejection: JSONRejection = .objects,
    progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    try importJSON(
      inputs, mergePolicy: mergePolicy, rejecting: rejection, pieces: Self.pieceOfInput, progress: progress)
  }

  /// Imports the objects of several inputs, which are read in pieces of a size.
  ///
  /// - Parameter failureLimit: The import is given up after so many failures; nil for no limit.
  package func importJSON(
    _ inputs: [JSONInput], mergePolicy: MergePolicy = .objectTrump, rejecting rejection: JSONRejection = .objects,
    pieces: Int, failureLimit: Int? = nil, progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    let sizes = try inputs.map { try $0.size() }
    let total = sizes.contains(nil) ? nil : sizes.reduce(UInt64(0)) { $0 &+ UInt64($1 ?? 0) }
    let importer = try JSONImporter(
      into: self, mergePolicy, rejection, totalBytes: total.map { Int(clamping: $0) }, progress)
    importer.failureLimit = failureLimit
    let parts = try inputs.map { input in
      let entity =
        switch input.elements {
        case .objects(let type): try entity(of: type)
        case .numbered(let number): number
        }
      return try importer.part(of: entity, named: input.name, at: input.path, input.layout, input.makeReader)
    }
    do {
      for (input, part) in zip(inputs, parts) {
        try importer.begin(part)
        try input.read(pieces: pieces) { piece in try importer.feed(piece) }
      }
      return try importer.finish()
    } catch {
      rollback()
      throw error
    }
  }

  /// Imports objects of an entity by its number.
  package func importJSON(
    entity: Int, from data: Data, at path: String? = nil, layout: JSONLayout = .document,
    mergePolicy: MergePolicy = .objectTrump, rejecting rejection: JSONRejection = .objects, pieces: Int? = nil,
    progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    let input = JSONInput(entity: entity, from: data, named: nil, at: path, layout: layout)
    return try importJSON(
      [input], mergePolicy: mergePolicy, rejecting: rejection, pieces: pieces ?? Self.pieceOfInput, progress: progress)
  }

  /// Imports objects from bytes that come one after the other, such as those of a download, as from data.
  ///
  /// ```swift
  /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
  /// let report = try await context.importJSON(Pokemon.self, from: bytes, layout: .lines)
  /// ```
  /// The context must not be used between the pieces by anything else.
  ///
  /// - Throws: also the errors of the sequence, after what was saved before.
  @discardableResult nonisolated(nonsending) public func importJSON<Object: ManagedObject, Bytes: AsyncSequence>(
    _ type: Object.Type, from bytes: Bytes, at path: String? = nil, layout: JSONLayout = .document,
    mergePolicy: MergePolicy = .objectTrump, rejecting rejection: JSONRejection = .objects,
    progress: ((JSONImportProgress) -> Void)? = nil
  ) async throws -> JSONImportReport where Bytes.Element == UInt8 {
    let importer = try JSONImporter(into: self, mergePolicy, rejection, totalBytes: nil, progress)
    let part = try importer.part(of: entity(of: type), named: nil, at: path, layout, nil)
    do {
      try importer.begin(part)
      var piece: [UInt8] = []
      for try await byte in bytes {
        piece.append(byte)
        if piece.count == Self.pieceOfAsyncInput {
          try importer.feed(piece)
          piece.removeAll(keepingCapacity: true)
        }
      }
      try importer.feed(piece)
      return try importer.finish()
    } catch {
      rollback()
      throw error
    }
  }

  package static var pieceOfInput: Int { 1 << 20 }
  private static var pieceOfAsyncInput: Int { 1 << 16 }

  private func entity(of type: ManagedObject.Type) throws -> Int {
    let number = type._entity
    guard model.entities.indices.contains(number), type._model?.description.name ?? model.name == model.name else {
      throw JSONImportError(message: "The class \(type) belongs to another model than the context.", failures: [])
    }
    return number
  }
}
