import Foundation
import Testing
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisTestSupport

@testable import Trellis

/// A store with items, whose model is text.
struct DynamicShop {
  let folder: TestFolder
  let container: PersistentContainer

  init(_ model: String, _ folder: TestFolder? = nil, kind: StoreKind = .sqlite) throws {
    self.folder = try folder ?? TestFolder()
    let description = try #require(ModelFile.parse(Array(model.utf8), path: "Shop.model.json").description)
    container = try PersistentContainer(
      model: ObjectModel(dynamic: description), store: kind.configuration(in: self.folder, durability: .durable))
  }

  var url: URL { folder.file("store.sqlite") }

  @discardableResult func insert(_ entity: String = "Item", name: String) throws -> Int64 {
    let context = container.newContext()
    let item = try context.insert(entity, ["name": .text(name)])
    try context.save()
    try container.settle()
    return item.objectID.key
  }

  func rename(_ key: Int64, _ name: String, _ entity: String = "Item") throws {
    let context = container.newContext()
    try #require(try context.object(entity, key)).set("name", .text(name))
    try context.save()
    try container.settle()
  }

  /// The texts of all items, sorted.
  func names(_ context: ManagedObjectContext, _ entity: String = "Item", _ property: String = "name") throws -> [String]
  {
    try context.objects(entity).map { if case .text(let name) = try $0.value(property) { name } else { "" } }.sorted()
  }
}
