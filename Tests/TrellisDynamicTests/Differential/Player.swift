import Foundation
import Trellis
import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport

/// Plays steps on one side, and tells what came of each.
final class Player<Kind: Side> {
  let container: PersistentContainer
  let errors = ReportedErrors()
  private(set) var context: ManagedObjectContext
  private var other: ManagedObjectContext
  /// The objects that exist, or existed, by key.
  private(set) var objects: [(key: Int64, entity: Int)] = []
  private let undoes: Bool

  init(_ store: StoreConfiguration, undoes: Bool) throws {
    container = try PersistentContainer(model: Kind.model, store: store) { [errors] in errors.add($0) }
    context = container.newContext()
    other = container.newContext()
    if undoes { for context in [context, other] { context.undo.enable() } }
    self.undoes = undoes
  }

  /// Plays a step.
  ///
  /// - Returns: what came of it: results of a fetch, the code of an error.
  func play(_ step: Step) -> String {
    var outcome = ""
    do {
      outcome = try run(step)
    } catch {
      outcome = Self.words(error)
    }
    if undoes, !step.isHistory { context.undo.endStep("step") }
    return outcome
  }

  private func run(_ step: Step) throws -> String {
    switch step {
    case .insert(let entity, let values):
      let object = try Kind.insert(entity, values, context)
      objects.append((object._key, container.model.entity(named: entity)?.index ?? 0))
      return "\(object)"
    case .set(let key, let attribute, let value):
      guard let object = try find(key) else { return "no object" }
      try Kind.set(attribute, of: object, to: value)
    case .link(let key, let name, let partner):
      try change(key, name, partner.map { [$0] } ?? []) { try $0.setPartner(of: $1, $2.first) }
    case .add(let key, let name, let partner, let place):
      try change(key, name, [partner]) { try $0.add($2[0], to: $1, at: place) }
    case .remove(let key, let name, let partner):
      try change(key, name, [partner]) { try $0.remove($2[0], from: $1) }
    case .replace(let key, let name, let partners):
      try change(key, name, partners) { try $0.replaceMembers(of: $1, with: $2) }
    case .delete(let key): if let object = try find(key) { try context.delete(object) }
    case .undelete(let key):
      if let object = context.deletedObjects.first(where: { $0._key == key }) { context.undelete(object) }
    case .save: try context.save()
    case .rollback: context.rollback()
    case .undo: return "\(try context.undo.undo())"
    case .redo: return "\(try context.undo.redo())"
    case .refresh: context.refreshAll()
    case .otherContext(let policy):
      swap(&context, &other)
      context.mergePolicy = policy
    case .newContext:
      context = container.newContext()
      if undoes { context.undo.enable() }
    case .fetch(let entity, let format, let sort):
      let number = container.model.entity(named: entity)?.index ?? 0
      let request = try context.request(for: number, format: format, sort: [sort])
      let found = try context.objects(of: request)
      let count = try context.count(of: request)
      return "\(count): \(found)"
    }
    return ""
  }

  private func find(_ key: Int64) throws -> ManagedObject? {
    guard let entity = objects.first(where: { $0.key == key })?.entity else { return nil }
    return try context.objects([key], entity: entity)[key]
  }

  private func change(
    _ key: Int64, _ name: String, _ partners: [Int64], _ body: (ManagedObject, Int, [ManagedObject]) throws -> Void
  ) throws {
    guard let object = try find(key) else { return }
    let found = try partners.compactMap { try find($0) }
    guard found.count == partners.count,
      let property = container.model.entities[type(of: object)._entity].property(named: name)
    else { return }
    try body(object, property.index, found)
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case let error as ValidationError: "\(error)"
    case let error as StoreError: error.code.rawValue
    case let error as SaveConflict: "\(error)"
    case let error as ContextError: "\(error)"
    default: "\(error)"
    }
  }

  // MARK: What there is

  /// Everything that a context shows.
  func picture(_ context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    for entity in container.model.entities where entity.parent == nil {
      for object in try context.objects(of: context.request(for: entity.index)) { lines.append(try Self.line(object, context)) }
    }
    return lines
  }

  private static func line(_ object: ManagedObject, _ context: ManagedObjectContext) throws -> String {
    let entity = context.model.entities[type(of: object)._entity]
    var line = "\(object) changed \(object.changedProperties)"
    object._willRead(-1)
    for property in entity.properties {
      switch property {
      case .attribute(let attribute): line += " \(attribute.name)=\(shown(object._value(attribute.index)))"
      case .relationship(let relationship) where relationship.isToMany:
        let keys = try object.keysOfMembers(of: relationship.index)
        line += " \(relationship.name)=\(relationship.isOrdered ? keys : keys.sorted())"
      case .relationship(let relationship):
        let partner = try object.partner(of: relationship.index)
        line += " \(relationship.name)=\(partner.map { "\($0)" } ?? "nil")"
      }
    }
    return line
  }

  /// Data looks the same in a file and in memory.
  private static func shown(_ value: StoredValue) -> String {
    switch value {
    case .file(let file): "\(file.size) \(file.digest.text)"
    case .blob(let bytes): "\(bytes.count) \(bytes.withUnsafeBytes { ContentDigest(of: $0).text })"
    default: "\(value)"
    }
  }
}

extension Step {
  fileprivate var isHistory: Bool {
    switch self {
    case .undo, .redo: true
    default: false
    }
  }
}
