public import Foundation
public import TrellisJSON
@_spi(Generated) public import TrellisRuntime

extension ManagedObjectContext {
  /// Imports objects from CSV data, by the names that the model's mapping to JSON gives them, and saves them.
  ///
  /// ```swift
  /// let report = try context.importCSV(Book.self, from: data)
  /// print(report)
  /// ```
  /// The first line has the names of the columns. Objects are found by the unique key that the mapping names, and partners by
  /// theirs; the merge policy says what happens to objects that the store has, as for JSON. In the place of a failure, the
  /// pointer has the name of the column.
  ///
  /// - Parameters:
  ///   - type: The entity of the rows.
  ///   - data: The file.
  ///   - format: How the file is written.
  ///   - mergePolicy: The policy for objects that the store has, and for conflicts with other contexts.
  ///   - rejection: What happens if a row cannot be imported. Everything is imported in one save, or nothing; with `objects`,
  ///     a batch of about a thousand rows is in memory, and is saved.
  ///   - progress: Called after each batch.
  /// - Returns: what was done, and what was left out.
  /// - Throws: ``JSONImportError`` if the model has no mapping for the entity, if the context has unsaved changes, and for
  ///   `rejecting: .everything` with the first thousand failures, or some more; the errors of
  ///   ``ManagedObjectContext/save(mergePolicy:)``.
  /// - Complexity: linear in the number of bytes.
  @discardableResult public func importCSV<Object: ManagedObject>(
    _ type: Object.Type, from data: Data, format: CSVFormat = CSVFormat(), mergePolicy: MergePolicy = .objectTrump,
    rejecting rejection: JSONRejection = .everything, progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    let input = JSONInput(type, from: data, named: "data").asCSV(format)
    return try importCSV(input, mergePolicy, rejection, progress)
  }

  /// Imports objects from a CSV file, as from data. The file is read piece by piece, whatever its size.
  ///
  /// - Parameter url: The URL of a file. Failures name it by its last component.
  /// - Throws: also the errors of the file system.
  @discardableResult public func importCSV<Object: ManagedObject>(
    _ type: Object.Type, from url: URL, format: CSVFormat = CSVFormat(), mergePolicy: MergePolicy = .objectTrump,
    rejecting rejection: JSONRejection = .everything, progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    let input = JSONInput(type, from: url).asCSV(format)
    return try importCSV(input, mergePolicy, rejection, progress)
  }

  private func importCSV(
    _ input: JSONInput, _ mergePolicy: MergePolicy, _ rejection: JSONRejection,
    _ progress: ((JSONImportProgress) -> Void)?
  ) throws -> JSONImportReport {
    try importJSON(
      [input], mergePolicy: mergePolicy, rejecting: rejection, pieces: Self.pieceOfInput,
      failureLimit: rejection == .everything ? 1_000 : nil, progress: progress)
  }
}

extension JSONInput {
  /// The same bytes as CSV.
  package func asCSV(_ format: CSVFormat) -> JSONInput {
    JSONInput(self, { map, entity in CSVElementReader(format, map, entity) }) {
      let decoder = PieceDecoder(format.encoding)
      return { decoder.decode($0) }
    }
  }
}
