import TrellisSchema

/// Where a walk along a path stands.
struct PathWalk {
  private(set) var crossings: [(path: PropertyPath, variable: Int, entity: Entity)] = []
  /// Whether the last step was to a to-many.
  var isWhole = false
  /// Nil behind an attribute.
  private(set) var entity: Entity?
  /// The last step, where it was a relationship.
  private(set) var relationship: Relationship?
  /// Whether the walk has come to the entity of an object, which is no property.
  private(set) var isAtEntity = false
  /// The members, one of each to-many, from which the path goes on.
  private var places: [(place: MemberPlace, path: PropertyPath, variable: Int)] = []
  /// How many to-manys lie behind such a member.
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

  /// Goes on from one of the members that the last step has led to.
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

  /// A value of the member from which the path goes on.
  func wrapped(_ operand: Operand) -> Operand {
    places.reversed().reduce(operand) { value, step in
      .computed(.member(step.place, step.path, variable: step.variable, value))
    }
  }
}
