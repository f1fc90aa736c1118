public import Foundation
public import TrellisModel
package import TrellisStorage

/// A database of any origin, as a model of Trellis, with rows that can be copied into a store of this model.
///
/// ```swift
/// let old = try AdoptedDatabase(sqlite: URL(filePath: "Chinook.sqlite"))
/// try old.modelText().write(to: URL(filePath: "Chinook.model.json"), atomically: true, encoding: .utf8)
/// for note in old.notes { print(note) }      // changed Invoice.Total: holds binary numbers, which become …
/// print(try old.copy(to: URL(filePath: "Chinook.db")))   // copied 347 × Album …
/// ```
/// The database is read at one moment and stays as it is. The primary keys of its rows are unique attributes of the objects,
/// so that an object is found by its former key.
public final class AdoptedDatabase {
  /// The model.
  public var description: ModelDescription { adopted.description }
  /// What of the schema has no counterpart, and what became of it.
  public var notes: [AdoptionNote] { adopted.notes }

  private let source: any AdoptionSource
  private let adopted: AdoptedModel

  /// Reads the schema of a SQLite file, and samples of its rows.
  ///
  /// - Parameters:
  ///   - url: The file. Programs may go on using it.
  ///   - name: The name of the model; nil for that of the file.
  ///   - sample: The number of rows at the start of each table, and at its end, whose values are looked at: a declared type
  ///     says little in SQLite.
  /// - Throws: ``AdoptionError``.
  /// - Complexity: linear in the size of the schema and of the samples.
  public convenience init(sqlite url: URL, name: String? = nil, sample: Int = defaultSample) throws {
    try self.init(SQLiteSource(url), name: name, sample: sample, isExact: false)
  }

  /// The number of rows at the start of a table, and at its end, that are looked at unless a caller says otherwise.
  public static let defaultSample = 5_000

  /// - Parameter isExact: Whether the database holds nothing in a column but what its type says.
  package init(_ source: any AdoptionSource, name: String? = nil, sample: Int, isExact: Bool) throws {
    self.source = source
    adopted = try AdoptedModel(try source.schema(sample: sample), name: name, isExact: isExact)
  }

  /// The text of the model file.
  ///
  /// - Throws: ``AdoptionError`` if the schema has no counterpart.
  /// - Complexity: linear in the size of the model.
  public func modelText() throws(AdoptionError) -> String { try adopted.text() }

  /// Copies all rows into a new store. Nothing is at its place unless everything has succeeded.
  ///
  /// - Parameters:
  ///   - target: The SQLite file to make. Its folder must exist.
  ///   - allowsLoss: Whether what has no place is left out: a value or reference that may be nil is nil, and a row that
  ///     cannot be without one is left out, with those that require it. The report lists each of them.
  ///   - progress: Receives the number of rows and pairs so far, after each thousand, first as they are checked and then
  ///     as they are written. An error that it throws ends the copy.
  /// - Returns: what was copied and left out.
  /// - Throws: ``AdoptionError`` with each value, reference and row that has no place; `StoreError`; errors of `progress`.
  /// - Complexity: linear in the rows, which are read twice, and O(*n* log *n*) for indexes. In memory are some bytes for
  ///   each run of rows in tables that others refer to, and the keys of such rows if they are no integers.
  @discardableResult public func copy(
    to target: URL, allowingLoss allowsLoss: Bool = false, progress: ((Int) throws -> Void)? = nil
  ) throws -> AdoptionReport {
    let place = try AdoptionPlace(target)
    defer { place.removeFolder() }
    let model = try resolvedModel()
    let store = try StoreConfiguration.sqlite(at: place.store, durability: .relaxed).open(model)
    var report = AdoptionReport()
    do {
      defer { store.close() }
      guard let store = store as? SQLiteStore else { return report }
      try store.load(StoreLineage(nextKey: 1)) { writer in
        report = try transfer(model, to: writer, allowingLoss: allowsLoss) { try progress?($0) }
      }
    }
    try place.publish()
    return report
  }

  /// - Throws: ``AdoptionError``.
  package func resolvedModel() throws(AdoptionError) -> Model {
    // The checks of model files say more than those of a description.
    _ = try adopted.text()
    do throws(SchemaError) { return try Model(adopted.description) } catch {
      throw AdoptionError(
        .invalidModel, "The schema has no counterpart as a model: \(error.description).",
        remedy: "Adopt a copy with other tables.")
    }
  }

  /// Passes all rows to an empty store of the model.
  ///
  /// - Throws: ``AdoptionError``; ``StoreError``; errors of `progress`.
  package func transfer(
    _ model: Model, to writer: any BulkWriter, allowingLoss allowsLoss: Bool, progress: @escaping (Int) throws -> Void
  ) throws -> AdoptionReport {
    let copy = AdoptionCopy(source, adopted, model, allowsLoss: allowsLoss, progress: progress)
    try copy.check()
    try copy.write(to: writer)
    return copy.report
  }
}

// MARK: - Place

/// The folder in which a copy is made, beside its place, and the file that is moved out of it at the end.
private struct AdoptionPlace {
  private let target: URL
  private let folder: URL
  /// The store while it is made.
  let store: URL

  init(_ target: URL) throws(AdoptionError) {
    self.target = target
    for path in [target.path, target.path + "-wal"] where FileManager.default.fileExists(atPath: path) {
      throw AdoptionError(.unwritable, "\(path) exists already.", remedy: "Choose another name, or remove it.")
    }
    folder = target.appendingPathExtension("incoming-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw AdoptionError(
        .unwritable, "Nothing can be made beside \(target.path).",
        remedy: "Check that the folder exists and may be written to.")
    }
    store = folder.appendingPathComponent(target.lastPathComponent)
  }

  func publish() throws(AdoptionError) {
    do { try FileManager.default.moveItem(at: store, to: target) } catch {
      throw AdoptionError(
        .unwritable, "\(target.path) cannot be written.", remedy: "Check that the folder may be written to.")
    }
  }

  func removeFolder() { try? FileManager.default.removeItem(at: folder) }
}
