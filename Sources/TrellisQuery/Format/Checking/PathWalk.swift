import TrellisSchema

/// Where a walk along a path stands.
struct PathWalk {
  private(set) var crossings: [(path: PropertyPath, variable: Int, entity: Entity)] = []
  /// Whether the last step was to a to-many.
  var isWhole = false
  /// Nil behind an attribute.
  private(set) var entity: Entity?
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
    isWhole = false
  }

  mutating func go(_ relationship: Relationship, to destination: Entity) {
    path = path.appending(relationship.index)
    type = .object(destination.index)
    entity = destination
    isWhole = relationship.isToMany
    guard relationship.isToMany else { return }
    crossings.append((path, nextVariable, destination))
    path = PropertyPath(variable: nextVariable)
    nextVariable += 1
  }

  var end: ResolvedPath { ResolvedPath(crossings: crossings, operand: .path(path), type: type, isWhole: isWhole) }
}
