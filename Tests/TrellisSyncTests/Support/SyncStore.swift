import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisDynamic
@testable import TrellisRuntime
@testable import TrellisStorage
@testable import TrellisSync

/// A store of a test, as a replica or as a server.
final class SyncStore {
  let folder: TestFolder
  private var model: ObjectModel
  private let kind: StoreKind
  private(set) var container: PersistentContainer

  init(_ model: ObjectModel, _ kind: StoreKind = .sqlite) throws {
    folder = try TestFolder()
    self.model = model
    self.kind = kind
    container = try PersistentContainer(model: model, store: kind.configuration(in: folder))
  }

  /// Ends the program that has the store open, and starts it again.
  func restart() throws {
    container.close()
    container = try PersistentContainer(model: model, store: kind.configuration(in: folder))
  }

  /// Ends the program that has the store open, and starts a newer version of it.
  func update(to text: String) throws {
    container.close()
    model = SyncModels.model(text)
    container = try PersistentContainer(model: model, store: kind.configuration(in: folder))
  }

  /// Puts a copy of the store in its place.
  func restore(_ copy: URL) throws {
    container.close()
    for ending in ["", "-wal", "-shm", ".external"] {
      let (from, to) = (copy.path + ending, folder.file("store.sqlite").path + ending)
      try? FileManager.default.removeItem(atPath: to)
      if FileManager.default.fileExists(atPath: from) { try FileManager.default.copyItem(atPath: from, toPath: to) }
    }
    container = try PersistentContainer(model: model, store: kind.configuration(in: folder))
  }

  /// The store as another process has it open.
  func another() throws -> PersistentContainer {
    try PersistentContainer(model: model, store: kind.configuration(in: folder))
  }

  func replica() throws -> Replica { try Replica(container) }

  /// A replica on a computer with a wrong clock.
  func replica(
    skew: Int64, _ interruption: Interruption = Interruption(), sizes: MessageSizes = MessageSizes()
  ) throws -> Replica {
    try Replica(container, sizes: sizes) {
      interruption.clockIsRead()
      return skew
    }
  }

  func server(
    _ policy: SyncPolicy = SyncPolicy(), partSize: Int = 1 << 20, inline: Int = 1 << 16
  ) throws -> SyncServer {
    try SyncServer(container, policy: policy, sizes: MessageSizes(part: partSize, inline: inline)) {
      Int64(Date().timeIntervalSince1970 * 1_000_000)
    }
  }

  @discardableResult func save<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = container.newContext()
    let result = try body(context)
    try context.save()
    return result
  }

  /// Changes the objects of an entity.
  func edit(_ entity: String, _ name: String? = nil, _ body: (DynamicObject) throws -> Void) throws {
    try save { context in
      for object in try context.objects(entity) where try name == nil || object.value("name") == .text(name ?? "") {
        try body(object)
      }
    }
  }

  /// What is wrong with the store.
  func findings() throws -> [String] {
    try container.check().map { "\($0)" }
  }

  func picture() throws -> StorePicture { try StorePicture(container.newContext()) }

  /// The texts of a property of all objects, sorted.
  func texts(_ entity: String, _ property: String = "name") throws -> [String] {
    try container.newContext().objects(entity).map { object in
      switch try object.value(property) {
      case .text(let text): text
      case .integer(let number): "\(number)"
      default: "nil"
      }
    }.sorted()
  }
}

/// The content of a store by key and property: values and the keys of partners, as texts.
struct StorePicture: Equatable {
  private(set) var objects: [Int64: [String: [String]]] = [:]

  /// - Parameter isWanted: Whether an object is in the picture, by its key. Others are no partners either.
  init(_ context: ManagedObjectContext, where isWanted: (Int64) -> Bool = { _ in true }) throws {
    for entity in context.model.entities where entity.parent == nil {
      for object in try context.objects(entity.name) where isWanted(object.key) {
        objects[object.key] = try content(object, isWanted)
      }
    }
  }

  private func content(_ object: DynamicObject, _ isWanted: (Int64) -> Bool) throws -> [String: [String]] {
    var found: [String: [String]] = ["entity": [object.entityName]]
    for property in try object.ownEntity().properties {
      switch property {
      case .attribute(let attribute) where attribute.column != nil:
        found[attribute.name] = [try ValueText(attribute).text(object.value(attribute.name))]
      case .attribute: break
      case .relationship(let relationship) where relationship.isToMany:
        let keys = try object.memberKeys(relationship.name).filter(isWanted)
        found[relationship.name] = (relationship.isOrdered ? keys : keys.sorted()).map(String.init)
      case .relationship(let relationship):
        let key = try object.partner(relationship.name)?.key
        found[relationship.name] = [key.map { isWanted($0) ? "\($0)" : "nil" } ?? "nil"]
      }
    }
    return found
  }

  /// The part that a former version of the model has, by its names.
  func named(by match: ModelMatch) throws -> StorePicture {
    var picture = self
    picture.objects = try objects.compactMapValues { object in
      let entity = try #require(match.current.entity(named: object["entity"]?.first ?? ""))
      guard let origin = match.origins[entity.index] else { return nil }
      var known = ["entity": [match.stored.entities[origin].name]]
      for property in entity.properties {
        guard let former = match.properties[origin][property.index], let value = object[property.name] else { continue }
        known[match.stored.entities[origin].properties[former].name] = value
      }
      return known
    }
    return picture
  }

  /// The part that a later version of the model has, by its former names.
  func kept(by match: ModelMatch) throws -> StorePicture {
    var picture = self
    picture.objects = try objects.compactMapValues { object in
      let entity = try #require(match.stored.entity(named: object["entity"]?.first ?? ""))
      if match.successors[entity.index] == nil { return nil }
      var left = object
      for property in entity.properties where match.successor(of: property.index, in: entity.index) == nil {
        left[property.name] = nil
      }
      return left
    }
    return picture
  }

  func differences(from other: StorePicture) -> [String] {
    var lines: [String] = []
    for key in Set(objects.keys).union(other.objects.keys).sorted() where objects[key] != other.objects[key] {
      guard let here = objects[key], let there = other.objects[key] else {
        lines.append(
          "#\(key): \(objects[key] == nil ? "is missing" : "is too much") \(objects[key] ?? other.objects[key] ?? [:])")
        continue
      }
      for name in here.keys.sorted() where here[name] != there[name] {
        lines.append("#\(key).\(name): \(here[name] ?? []) instead of \(there[name] ?? [])")
      }
    }
    return lines
  }
}
