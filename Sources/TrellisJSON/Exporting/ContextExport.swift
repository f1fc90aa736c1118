public import Foundation
import TrellisModel
@_spi(Generated) public import TrellisRuntime
package import TrellisStorage

/// Which partners an export nests in objects. The others are written by their key.
public enum JSONNesting: Hashable, Sendable {
  /// All that the model's mapping nests, to any depth. An object is not nested in itself.
  case mapped
  /// Those that the request prefetches.
  case prefetched
}

extension ManagedObjectContext {
  /// Writes the objects of a request as a JSON list, by the mapping that an import reads them by.
  ///
  /// ```swift
  /// let data = try context.exportJSON(Pokemon.all.prefetching { $0.moves }, nesting: .prefetched)
  /// ```
  /// Keys have the order of the model. Importing the result into a store with the objects changes nothing. A text that
  /// the mapping changes on its way in, such as by `lastPathComponent`, is written as it is in the object.
  ///
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - layout: Whether the objects are a list, or one in each line.
  ///   - nesting: The partners that are written as objects.
  /// - Throws: ``JSONExportError`` if an entity has no mapping, or too much would be nested; the errors of
  ///   ``ManagedObjectContext/fetch(_:)``.
  /// - Complexity: linear in the number of objects that are written.
  public func exportJSON<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, layout: JSONLayout = .document, nesting: JSONNesting = .mapped
  ) throws -> Data {
    var data = Data()
    try exportJSON(request, layout: layout, nesting: nesting) { data.append(contentsOf: $0) }
    return data
  }

  /// Writes the objects of a request piece by piece, so that memory holds only a batch of them.
  ///
  /// ```swift
  /// try context.exportJSON(Pokemon.all, layout: .lines) { try file.write(contentsOf: $0) }
  /// ```
  /// - Parameter write: Receives the next bytes, some 64 KB at once.
  /// - Throws: the errors of ``exportJSON(_:layout:nesting:)``, and those of `write`.
  public func exportJSON<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, layout: JSONLayout = .document, nesting: JSONNesting = .mapped,
    to write: ([UInt8]) throws -> Void
  ) throws {
    var exporter = try Exporter(model, layout, nesting == .prefetched ? Set(request.prefetchedSteps) : nil)
    try stream(request) { object in try exporter.append(object, to: write) }
    try exporter.finish(to: write)
  }

  /// Writes objects.
  package func exportJSON(
    _ objects: [ManagedObject], layout: JSONLayout = .document, nesting paths: Set<[Int]>? = nil
  ) throws -> Data {
    var data = Data()
    var exporter = try Exporter(model, layout, paths)
    for object in objects { try exporter.append(object) { data.append(contentsOf: $0) } }
    try exporter.finish { data.append(contentsOf: $0) }
    return data
  }

  /// Writes the objects of a request of an entity by its number, piece by piece.
  ///
  /// - Parameter paths: The relationships whose partners are nested, by the numbers on the path to them; nil for all
  ///   mapped ones.
  package func exportJSON(
    _ request: StoreRequest, layout: JSONLayout = .document, nesting paths: Set<[Int]>? = nil,
    to write: ([UInt8]) throws -> Void
  ) throws {
    var exporter = try Exporter(model, layout, paths)
    var keys = try keys(of: request)[...]
    while !keys.isEmpty {
      let batch = Array(keys.prefix(1_000))
      keys = keys.dropFirst(batch.count)
      let objects = try objects(batch, entity: request.entity)
      for key in batch { if let object = objects[key] { try exporter.append(object, to: write) } }
    }
    try exporter.finish(to: write)
  }
}

/// One export.
private struct Exporter {
  private static let pieceSize = 1 << 16

  private var tree: ObjectTree
  private let layout: JSONLayout
  private var bytes: [UInt8] = []
  private var isFirst = true

  init(_ model: Model, _ layout: JSONLayout, _ nested: Set<[Int]>?) throws {
    self.layout = layout
    do throws(JSONMappingFault) { tree = ObjectTree(try JSONMap(model), nesting: nested) } catch {
      throw JSONExportError(message: error.message)
    }
  }

  mutating func append(_ object: ManagedObject, to write: ([UInt8]) throws -> Void) throws {
    if layout == .document { bytes += Array(isFirst ? "[\n".utf8 : ",\n".utf8) }
    isFirst = false
    try tree.element(object).write(to: &bytes)
    if layout == .lines { bytes.append(0x0A) }
    if bytes.count >= Self.pieceSize {
      try write(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
  }

  mutating func finish(to write: ([UInt8]) throws -> Void) throws {
    if layout == .document { bytes += Array(isFirst ? "[]\n".utf8 : "\n]\n".utf8) }
    if !bytes.isEmpty { try write(bytes) }
  }
}
