import TrellisQuery
import TrellisSchema

/// A fetch request of the model with resolved names, from which its Swift function is generated.
struct RequestPlan {
  struct Parameter {
    let name: Identifier
    /// The type of a single value.
    let type: String
    /// Whether the values are objects, which are identified by their keys.
    let isObject: Bool
    let shape: FormatVariable.Shape
  }

  let description: FetchRequestDescription
  let predicate: QueryPredicate?
  let parameters: [Parameter]
  let sort: [SortKey]
  let prefetch: [PropertyPath]

  init(_ description: FetchRequestDescription, of entity: Entity, in model: Model) throws(GeneratorError) {
    self.description = description
    let name = "\(entity.name).\(description.name)"
    let checked = try Self.checked(description.predicate, of: entity, in: model, name)
    predicate = checked?.predicate
    parameters = (checked?.variables ?? []).map { Parameter($0, in: model) }
    var sort: [SortKey] = []
    for key in description.sort { sort.append(try Self.sortKey(key, of: entity, in: model, name)) }
    self.sort = sort
    var prefetch: [PropertyPath] = []
    for path in description.prefetch {
      guard let (steps, last) = Self.walk(path, from: entity, in: model), last.relationship != nil else {
        throw GeneratorError("the fetch request \(name) cannot prefetch '\(path)'")
      }
      prefetch.append(steps)
    }
    self.prefetch = prefetch
  }

  private static func checked(
    _ predicate: String?, of entity: Entity, in model: Model, _ name: String
  ) throws(GeneratorError) -> CheckedFormat? {
    guard let predicate else { return nil }
    do {
      return try CheckedFormat(predicate, of: entity.index, in: model)
    } catch {
      throw GeneratorError("the predicate of the fetch request \(name) is wrong: \(error.message)")
    }
  }

  private static func sortKey(
    _ key: FetchRequestDescription.Sort, of entity: Entity, in model: Model, _ name: String
  ) throws(GeneratorError) -> SortKey {
    guard let (path, last) = walk(key.path, from: entity, in: model), let attribute = last.attribute else {
      throw GeneratorError("the fetch request \(name) cannot sort by '\(key.path)'")
    }
    return SortKey(path, descending: key.isDescending, kind: attribute.valueKind)
  }

  /// Resolves a dotted path of names to a property path and its last property.
  private static func walk(_ names: String, from start: Entity, in model: Model) -> (PropertyPath, Property)? {
    var path = PropertyPath(variable: 0)
    var entity: Entity? = start
    var last: Property?
    for name in names.split(separator: ".", omittingEmptySubsequences: false) {
      guard let property = entity?.property(named: String(name)) else { return nil }
      path = path.appending(property.index)
      last = property
      entity = property.relationship.map { model.entities[$0.destination] }
    }
    return last.map { (path, $0) }
  }
}

extension RequestPlan.Parameter {
  init(_ variable: FormatVariable, in model: Model) {
    name = Identifier(variable.name)
    shape = variable.shape
    if case .object(let entity) = variable.type {
      isObject = true
      type = entity.map { model.entities[$0].name } ?? TypeName.managedObject
    } else {
      isObject = false
      type = variable.attribute.map(SwiftType.name) ?? SwiftType.name(of: variable.type)
    }
  }
}
