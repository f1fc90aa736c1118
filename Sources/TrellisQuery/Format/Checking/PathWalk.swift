import TrellisSchema

/// The state of resolving a path.
struct PathWalk {
  private(set) var crossings: [(path: PropertyPath, variable: Int, entity: Entity)] = []
  /// Whether the last step was a to-many relationship.
  var isWhole = false
  /// The current entity; nil after an attribute.
  private(set) var entity: Entity?
  /// The last step, if it was a relationship.
  private(set) var relationship: Relationship?
  /// Whether the path has reached `entity`, which is not a property.
  private(set) var isAtEntity = false
  /// The single members of to-many relationships from which the path continues.
  private var places: [(place: MemberPlace, path: PropertyPath, variable: Int)] = []
  /// The number of to-many relationships after such a member.
  private(set) var crossingsBehindPlace = 0
  private var path: PropertyPath
  private var type: FormatType
  private var nextVariable: Int

  init(_ scope: FormatChecker.Scope, nextVariable: Int) {
    entity = scope.entity
    path = PropertyPath(variable: scope.variable)
    type = .object(scope.entity.index)
    self.nextVariable = nextVariable
  }

  mutating func end(at attribute: Attribute, _ type: FormatType) {
    path = path.appending(attribute.index)
    self.type = type
    entity = nil
    relationship = nil
    isWhole = false
  }

  mutating func endAtEntity() {
    type = .entity
    entity = nil
    relationship = nil
    isWhole = false
    isAtEntity = true
  }

  /// Continues the path from one of the members of the last step.
  mutating func enter(_ place: MemberPlace) {
    guard let (path, variable, _) = crossings.popLast() else { return }
    crossingsBehindPlace = max(0, crossingsBehindPlace - 1)
    places.append((place, path, variable))
    isWhole = false
  }

  mutating func go(_ relationship: Relationship, to destination: Entity) {
    path = path.appending(relationship.index)
    type = .object(destination.index)
    entity = destination
    isWhole = relationship.isToMany
    self.relationship = relationship
    guard relationship.isToMany else { return }
    crossings.append((path, nextVariable, destination))
    if !places.isEmpty { crossingsBehindPlace += 1 }
    path = PropertyPath(variable: nextVariable)
    nextVariable += 1
  }

  var end: ResolvedPath {
    let operand = wrapped(isAtEntity ? .entity(path) : .path(path))
    return ResolvedPath(crossings: crossings, operand: operand, type: type, isWhole: isWhole)
  }

  /// Wraps a value in the member lookups on the path.
  func wrapped(_ operand: Operand) -> Operand {
    places.reversed().reduce(operand) { value, step in
      .computed(.member(step.place, step.path, variable: step.variable, value))
    }
  }
}
