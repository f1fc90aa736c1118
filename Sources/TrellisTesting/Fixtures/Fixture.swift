public import Foundation
import TrellisJSON
import TrellisModel
@_spi(Generated) public import TrellisRuntime

/// Named objects in a JSON file, for tests and previews.
///
/// ```json
/// {
///   "EmotionDiary": {
///     "walk": { "emotion": "happy", "content": "A walk", "tags": ["sea"] }
///   },
///   "Tag": { "sea": { "name": "sea" } }
/// }
/// ```
/// ```swift
/// let diaries = try Fixture("Diaries.json").insert(into: context)
/// let walk: EmotionDiary = try diaries["walk"]
/// ```
/// The document is an object of entities, by their names in the model. Each has its objects by name; a name is unique among
/// the entities that inherit from each other. An object has the properties that are given; the others have the model's
/// defaults. The partners of a relationship are their names: a text in a to-one, a list of texts in a to-many, and an
/// object may come before the ones that it names. Values are as in an import of JSON: a date is a text such as
/// `2026-01-31T09:30:00Z`, data is Base64 text, a composite is an object of its fields.
public struct Fixture: Sendable {
  let bytes: [UInt8]
  /// The name for messages.
  let name: String

  /// Reads a file beside a file of Swift, such as that of a test.
  ///
  /// - Parameters:
  ///   - name: The name of the file, or its path from the folder of the Swift file.
  ///   - file: The Swift file.
  /// - Throws: the errors of the file system.
  public init(_ name: String, beside file: String = #filePath) throws {
    try self.init(contentsOf: URL(filePath: file).deletingLastPathComponent().appending(path: name))
  }

  /// Reads a file, such as a resource of a bundle.
  ///
  /// - Throws: the errors of the file system.
  public init(contentsOf url: URL) throws {
    self.init(try Data(contentsOf: url), named: url.lastPathComponent)
  }

  /// Creates a fixture from a document.
  ///
  /// - Parameters:
  ///   - data: The document, in UTF-8.
  ///   - name: The name for messages.
  public init(_ data: Data, named name: String = "fixture") {
    bytes = Array(data)
    self.name = name
  }

  /// Inserts the objects into a context, in the order of the document, and does not save them.
  ///
  /// ```swift
  /// let diaries = try Fixture("Diaries.json").insert(into: context)
  /// try context.save()
  /// ```
  /// - Returns: the objects by name. They belong to the context.
  /// - Throws: ``FixtureError`` with the line and the column of the first mistake. Then nothing is inserted.
  /// - Complexity: linear in the number of bytes.
  @discardableResult public func insert(into context: ManagedObjectContext) throws -> FixtureObjects {
    let result = bytes.withUnsafeBufferPointer { bytes -> Result<[FixtureRecord], FixtureError> in
      do throws(DocumentFault) {
        var reader = FixtureReader(bytes, context.model)
        return .success(try reader.read())
      } catch {
        return .failure(self.error(at: error.offset, error.what))
      }
    }
    let objects = FixtureObjects(named: name, in: context)
    do {
      try objects.insert(try result.get())
    } catch let mistake as FixtureMistake {
      throw error(at: mistake.offset, mistake.what)
    }
    return objects
  }

  private func error(at offset: Int, _ what: String) -> FixtureError {
    let (line, column) = bytes.withUnsafeBufferPointer { DocumentFault.position(of: offset, in: $0) }
    return FixtureError(file: name, line: line, column: column, message: what)
  }
}

extension Fixture: CustomStringConvertible {
  /// The name of the file.
  public var description: String { "fixture \(name)" }
}

/// A mistake in a fixture, or a name that it does not have.
public struct FixtureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the file.
  public let file: String
  /// The line of the mistake, from 1; nil for a name that a test has asked for.
  public let line: Int?
  /// The column in characters, from 1; nil for a name that a test has asked for.
  public let column: Int?
  /// The mistake, as a sentence without a full stop.
  public let message: String

  /// The place and the mistake: `Diaries.json:3:31: EmotionDiary has no property 'contnt'; did you mean 'content'?`
  public var description: String {
    let place = ([file] + [line, column].compactMap { $0.map { "\($0)" } }).joined(separator: ":")
    return "\(place): \(message)\(message.hasSuffix("?") ? "" : ".")"
  }
}

extension FixtureError: LocalizedError {
  public var errorDescription: String? { description }
}

/// A mistake that was found when the objects were made.
struct FixtureMistake: Error {
  let offset: Int
  let what: String
}

/// The objects of a fixture in one context, by name.
public final class FixtureObjects {
  private let context: ManagedObjectContext
  private let file: String
  private var objects: [FixtureName: ManagedObject] = [:]

  init(named file: String, in context: ManagedObjectContext) {
    self.file = file
    self.context = context
  }

  /// The object with a name.
  ///
  /// ```swift
  /// let walk: EmotionDiary = try diaries["walk"]
  /// #expect(try diaries["walk", as: EmotionDiary.self].images.count == 2)
  /// ```
  /// - Throws: ``FixtureError`` if the fixture has no object of this class with the name.
  public subscript<Object: ManagedObject>(name: String, as type: Object.Type = Object.self) -> Object {
    get throws {
      let model = context.model
      let number = Object._entity
      guard model.entities.indices.contains(number) else {
        throw FixtureError(file: file, line: nil, column: nil, message: "\(Object.self) is no entity of \(model.name)")
      }
      let root = model.entities[number].root(in: model)
      if let object = objects[FixtureName(root: root, name: name)] as? Object { return object }
      let names = objects.filter { $0.key.root == root && $0.value is Object }.map(\.key.name)
      throw FixtureError(
        file: file, line: nil, column: nil,
        message: "there is no \(model.entities[number].name) '\(name)'" + suggestion(for: name, among: names))
    }
  }

  // MARK: Insertion

  /// - Throws: ``FixtureMistake``, and what stops a context from inserting objects. Then nothing is inserted.
  func insert(_ records: [FixtureRecord]) throws {
    do {
      let writer = ObjectWriter(context)
      for record in records {
        objects[record.name] = try insert(record, writer)
      }
      for record in records { try link(record) }
      for record in records { try check(record) }
    } catch {
      for object in objects.values { try? context.delete(object) }
      objects = [:]
      throw error
    }
  }

  private func insert(_ record: FixtureRecord, _ writer: ObjectWriter) throws -> ManagedObject {
    do {
      return try writer.insert(record.entity.index, record.values, assigned: record.assigned)
    } catch let refusal as RefusedValue {
      guard record.entity.properties.indices.contains(refusal.property) else { throw refusal }
      let property = record.entity.properties[refusal.property]
      throw FixtureMistake(
        offset: record.offsets[refusal.property] ?? record.offset,
        what: "\(record.entity.name).\(property.name): \(refusal.reason)")
    }
  }

  private func link(_ record: FixtureRecord) throws {
    guard let object = objects[record.name] else { return }
    for link in record.links {
      for partner in link.partners {
        guard let partner = objects[partner] else { continue }
        if link.relationship.isToMany {
          try object.add(partner, to: link.relationship.index)
        } else {
          try object.setPartner(of: link.relationship.index, partner)
        }
      }
    }
  }

  /// Checks that each object has the partners that it names: another one may claim them, too.
  private func check(_ record: FixtureRecord) throws {
    guard let object = objects[record.name] else { return }
    for link in record.links {
      let relationship = link.relationship
      let present =
        relationship.isToMany
        ? try object.members(of: relationship.index) : try object.partner(of: relationship.index).map { [$0] } ?? []
      for name in link.partners where !present.contains(where: { $0 === objects[name] }) {
        throw FixtureMistake(
          offset: link.offset,
          what:
            "\(record.entity.name).\(relationship.name): '\(name.name)' is with another object, which names it as well")
      }
    }
  }
}

extension FixtureObjects: CustomStringConvertible {
  /// The numbers of objects: `3 objects of Diaries.json`.
  public var description: String { "\(objects.count) object\(objects.count == 1 ? "" : "s") of \(file)" }
}

// MARK: - Names

/// The name of an object among those of the entities that inherit from each other.
struct FixtureName: Hashable {
  /// The number of the entity at the root.
  let root: Int
  let name: String
}

extension Entity {
  /// The number of the entity that this one, or the last of its ancestors, is.
  func root(in model: Model) -> Int {
    var entity = self
    while let parent = entity.parent { entity = model.entities[parent] }
    return entity.index
  }
}

/// `; did you mean 'name'?`, or nothing.
func suggestion(for name: String, among candidates: [String]) -> String {
  NearestName.closest(to: name, among: candidates.sorted()).map { "; did you mean '\($0)'?" } ?? ""
}
