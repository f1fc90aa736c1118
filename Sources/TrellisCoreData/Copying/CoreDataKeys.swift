public import Foundation

/// The keys that the rows of a Core Data store have in its copy, so that object URIs which were saved elsewhere still
/// lead to their objects.
///
/// ```swift
/// let keys = try CoreDataKeys(contentsOf: CoreDataKeys.file(besides: url))
/// let key = keys.key(of: URL(string: "x-coredata://8C0B…/Note/p17")!)   // ("Note", 42)
/// ```
/// A copy writes them beside the store as JSON, which is small: rows of an entity have rising keys, so that runs of
/// primary keys tell all of them.
public struct CoreDataKeys: Hashable, Sendable {
  /// The identifier of the Core Data store, as object URIs have it.
  public let storeUUID: String
  /// The rows of each entity, by its name in Core Data.
  private(set) var entities: [String: Rows] = [:]

  /// The rows of one entity.
  struct Rows: Hashable, Sendable {
    /// The name of the entity in the copy.
    var name: String
    /// The key of the first row; those of the others follow.
    var firstKey: Int64
    /// The primary keys in rising order, in runs.
    var runs: [ClosedRange<Int64>]
    /// The number of rows before each run.
    var starts: [Int64]

    init(name: String, firstKey: Int64, runs: [ClosedRange<Int64>] = []) {
      self.name = name
      self.firstKey = firstKey
      self.runs = []
      starts = []
      for run in runs { append(run) }
    }

    private(set) var count: Int64 = 0

    mutating func append(_ run: ClosedRange<Int64>) {
      let length = run.upperBound.subtractingReportingOverflow(run.lowerBound)
      guard !length.overflow, length.partialValue < .max - count else { return }
      if let last = runs.last, last.upperBound < .max, last.upperBound + 1 == run.lowerBound {
        runs[runs.count - 1] = last.lowerBound...run.upperBound
      } else {
        starts.append(count)
        runs.append(run)
      }
      count += length.partialValue + 1
    }

    func key(of primaryKey: Int64) -> Int64? {
      var (low, high) = (0, runs.count)
      while low < high {
        let middle = (low + high) / 2
        if runs[middle].upperBound < primaryKey { low = middle + 1 } else { high = middle }
      }
      guard low < runs.count, runs[low].contains(primaryKey) else { return nil }
      let (offset, overflow) = starts[low].addingReportingOverflow(primaryKey - runs[low].lowerBound)
      let (key, isTooLarge) = firstKey.addingReportingOverflow(offset)
      return overflow || isTooLarge ? nil : key
    }
  }

  init(storeUUID: String) { self.storeUUID = storeUUID }

  mutating func set(_ rows: Rows, of entity: String) { entities[entity] = rows }

  mutating func rename(_ entity: String, to name: String) { entities[entity]?.name = name }

  /// The key of a row in the copy.
  ///
  /// - Parameters:
  ///   - entity: The row's own entity, by its name in Core Data.
  ///   - primaryKey: The number of the row, `Z_PK`.
  /// - Returns: the key; nil if the store had no such row. A row that was left out has a key without an object.
  /// - Complexity: O(log *n*) in the number of gaps between the numbers.
  public func key(of entity: String, _ primaryKey: Int64) -> Int64? { entities[entity]?.key(of: primaryKey) }

  /// The entity and the key of the object that a URI of Core Data leads to.
  ///
  /// - Parameter uri: A permanent one, as `x-coredata://8C0B…/Note/p17`.
  /// - Returns: the name of the entity in the copy, and the key; nil if the URI is of another store or of no row.
  public func key(of uri: URL) -> (entity: String, key: Int64)? {
    guard uri.scheme?.lowercased() == "x-coredata", let store = uri.host(percentEncoded: false),
      store.caseInsensitiveCompare(storeUUID) == .orderedSame
    else { return nil }
    let parts = uri.path(percentEncoded: false).split(separator: "/")
    guard parts.count == 2, parts[1].hasPrefix("p"), let primaryKey = Int64(parts[1].dropFirst()),
      let rows = entities[String(parts[0])], let key = rows.key(of: primaryKey)
    else { return nil }
    return (rows.name, key)
  }

  // MARK: File

  /// The place of the keys beside a copy: `Diary.sqlite.coredata.json`.
  public static func file(besides store: URL) -> URL { store.appendingPathExtension("coredata.json") }

  private struct Document: Codable {
    struct Entity: Codable {
      let name: String
      let firstKey: Int64
      let primaryKeys: [[Int64]]
    }

    let format: Int
    let store: String
    let entities: [String: Entity]

    enum CodingKeys: String, CodingKey {
      case format = "trellis-coredata"
      case store, entities
    }
  }

  /// Reads the file that a copy has written.
  ///
  /// - Throws: ``CoreDataError`` if the file cannot be read.
  public init(contentsOf url: URL) throws(CoreDataError) {
    guard let data = try? Data(contentsOf: url), let document = try? JSONDecoder().decode(Document.self, from: data),
      document.format == 1
    else {
      throw CoreDataError(
        .unreadableFile, "\(url.path) is no list of keys.", remedy: "Give the file that the copy has written.")
    }
    storeUUID = document.store
    for (name, entity) in document.entities {
      let runs = entity.primaryKeys.compactMap { run in
        run.count == 2 && run[0] <= run[1] ? run[0]...run[1] : nil
      }
      entities[name] = Rows(name: entity.name, firstKey: entity.firstKey, runs: runs)
    }
  }

  /// - Throws: ``CoreDataError``.
  func write(to url: URL) throws(CoreDataError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let document = Document(
      format: 1, store: storeUUID,
      entities: entities.mapValues { rows in
        Document.Entity(
          name: rows.name, firstKey: rows.firstKey, primaryKeys: rows.runs.map { [$0.lowerBound, $0.upperBound] })
      })
    do {
      try encoder.encode(document).write(to: url, options: .atomic)
    } catch {
      throw CoreDataError(
        .inputOutput, "\(url.path) cannot be written.", remedy: "Check that the folder may be written to.")
    }
  }
}
