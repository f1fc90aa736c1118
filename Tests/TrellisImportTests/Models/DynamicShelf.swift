import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisModelFile
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTestSupport

/// Where an import goes to.
enum ImportTargetKind: CustomStringConvertible, CaseIterable {
  case store(StoreKind)
  /// A child of a context of a store in memory, as for a dry run.
  case child

  static let allCases: [ImportTargetKind] = StoreKind.allCases.map { .store($0) } + [.child]

  var description: String {
    switch self {
    case .store(let kind): kind.rawValue
    case .child: "child"
    }
  }
}

/// A store of a model that is made at run time.
struct DynamicShelf {
  let container: PersistentContainer
  let context: ManagedObjectContext
  private let folder: TestFolder
  private let parent: ManagedObjectContext

  init(_ model: String, _ kind: ImportTargetKind = .store(.memory)) throws {
    let description = try #require(ModelFile.parse(Array(model.utf8), path: "A.model.json").description)
    folder = try TestFolder()
    let store: StoreConfiguration = if case .store(let kind) = kind { kind.configuration(in: folder) } else { .memory }
    container = try PersistentContainer(model: ObjectModel(dynamic: description), store: store, log: nil)
    parent = container.newContext()
    if case .child = kind { context = parent.newChildContext() } else { context = parent }
  }

  @discardableResult func take(
    _ json: String, _ entity: String = "User", _ policy: MergePolicy = .objectTrump, lines: Bool = false,
    rejecting: JSONRejection = .objects
  ) throws -> JSONImportReport {
    let number = try #require(context.model.entities.first { $0.name == entity }).index
    let report = try context.importJSON(
      entity: number, from: Data(json.utf8), layout: lines ? .lines : .document, mergePolicy: policy,
      rejecting: rejecting)
    #expect(!context.hasChanges)
    #expect(try container.check().isEmpty)
    return report
  }

  /// An input of objects of an entity.
  func input(
    _ entity: String, _ text: String, _ name: String, at path: String? = nil, lines: Bool = false
  ) throws -> JSONInput {
    let number = try #require(context.model.entities.first { $0.name == entity }).index
    return JSONInput(
      entity: number, from: Data(text.utf8), named: name, at: path, layout: lines ? .lines : .document)
  }

  /// Imports several inputs together.
  @discardableResult func take(
    together inputs: [JSONInput], _ policy: MergePolicy = .objectTrump, rejecting: JSONRejection = .objects,
    pieces: Int = 1 << 20, progress: ((JSONImportProgress) -> Void)? = nil
  ) throws -> JSONImportReport {
    defer { #expect(!context.hasChanges) }
    let report = try context.importJSON(
      inputs, mergePolicy: policy, rejecting: rejecting, pieces: pieces, progress: progress)
    #expect(try container.check().isEmpty)
    return report
  }

  /// The objects of an entity as texts, in order: the values of some properties, and of others' keys.
  func list(_ entity: String, _ names: [String]) throws -> [String] {
    try context.objects(entity).map { object in
      try names.map { name in
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2 else { return try text(object.value(name)) }
        let isToMany = object.property(named: parts[0])?.relationship?.isToMany == true
        let partners = try isToMany ? object.members(parts[0]) : [object.partner(parts[0])].compactMap(\.self)
        return try partners.map { try text($0.value(parts[1])) }.joined(separator: ",")
      }.joined(separator: " ")
    }.sorted()
  }

  private func text(_ value: StoredValue) -> String {
    switch value {
    case .null: "-"
    case .integer(let number): "\(number)"
    case .text(let text): text
    default: "\(value)"
    }
  }
}

extension DynamicObject {
  fileprivate func property(named name: String) -> Property? {
    managedObjectContext?.model.entities[type(of: self)._entity].property(named: name)
  }
}

extension JSONImportReport {
  /// The numbers of objects: inserted, updated, unchanged, deleted, rejected, unresolved.
  var counts: [Int] {
    [inserted.count, updated.count, unchanged.count, deleted.count, rejected.count, unresolved.count]
  }
}
