import TrellisSchema

/// The result of resolving a path in a format.
struct ResolvedPath {
  /// The to-many relationships on the path, each with the variable of its members.
  var crossings: [(path: PropertyPath, variable: Int, entity: Entity)] = []
  /// The value, relative to the last of these members, or to the start if there are none.
  var operand: Operand
  var type: FormatType
  /// Whether the path ends at a to-many relationship, so that its members are the values.
  var isWhole = false
}

extension FormatChecker {
  /// Resolves a path in the model.
  func resolve(_ path: FormatPath, at start: Int) throws(PredicateFormatError) -> ResolvedPath {
    guard let scope = scopes.last(where: { $0.name == path.variable }) else {
      throw error(.unboundVariable, "Nothing around binds $\(path.variable ?? "").", at: start)
    }
    var walk = PathWalk(scope, nextVariable: nextVariable)
    for (place, step) in path.steps.enumerated() {
      if step.isOperator {
        return try aggregate(step, after: walk, rest: path.steps[(place + 1)...])
      }
      try advance(&walk, step)
    }
    if walk.crossingsBehindPlace > 0 { throw behindPlace(at: start) }
    return walk.end
  }

  private func behindPlace(at start: Int) -> PredicateFormatError {
    error(
      .unsupported, "Behind a member's place only one value, or the number of further members, can be asked for.",
      at: start)
  }

  /// Continues the path from a single member.
  private func enter(
    _ place: MemberPlace, _ walk: inout PathWalk, at start: Int
  ) throws(PredicateFormatError) {
    guard walk.isWhole, let relationship = walk.relationship else {
      throw error(.notMany, "A place needs an ordered to-many relationship before it.", at: start)
    }
    guard relationship.isOrdered else {
      throw error(
        .unsupported,
        "'\(relationship.name)' has no order, so no member has a place; use ANY, '@min' or '@max', or make it ordered.",
        at: start)
    }
    walk.enter(place)
  }

  private func advance(_ walk: inout PathWalk, _ step: FormatPath.Step) throws(PredicateFormatError) {
    if let place = step.place { return try enter(place, &walk, at: step.start) }
    guard let entity = walk.entity else {
      if walk.isAtEntity && step.name == "name" { return }
      throw error(.unknownProperty, "What comes before this is no relationship, so nothing can follow.", at: step.start)
    }
    guard let property = entity.property(named: step.name) else {
      // The object's identity, with the names that Core Data uses.
      if step.name == "objectID" || step.name == "self" { return }
      if step.name == "entity" { return walk.endAtEntity() }
      throw unknown(step, of: entity)
    }
    switch property {
    case .attribute(let attribute):
      guard attribute.column != nil else { throw transient(step) }
      walk.end(at: attribute, FormatType(attribute))
    case .relationship(let relationship):
      if case .transient = relationship.home { throw transient(step) }
      walk.go(relationship, to: model.entities[relationship.destination])
    }
  }

  private func unknown(_ step: FormatPath.Step, of entity: Entity) -> PredicateFormatError {
    let closest = NearestName.closest(to: step.name, among: entity.properties.lazy.map(\.name))
    let hint = closest.map { "; did you mean '\($0)'?" } ?? "."
    return error(
      .unknownProperty, "Entity '\(entity.name)' has no property '\(step.name.prefix(60))'\(hint)", at: step.start,
      suggestion: closest)
  }

  private func transient(_ step: FormatPath.Step) -> PredicateFormatError {
    error(.unsupported, "'\(step.name)' is transient, so no store can be asked about it.", at: step.start)
  }

  // MARK: Collections

  static let aggregates: [String: AggregateFunction] = [
    "sum": .sum, "avg": .average, "average": .average, "min": .minimum, "max": .maximum,
  ]

  /// `@count` and similar operators: they aggregate the members before them, using the values that the steps after them
  /// name.
  private func aggregate(
    _ step: FormatPath.Step, after walk: PathWalk, rest: ArraySlice<FormatPath.Step>
  ) throws(PredicateFormatError) -> ResolvedPath {
    let name = step.name.lowercased()
    guard name == "count" || Self.aggregates[name] != nil else {
      let closest = NearestName.closest(to: name, among: ["count"] + Self.aggregates.keys.sorted())
      throw error(
        .unknownFunction, "'@\(step.name.prefix(60))' is not known; there are @count, @sum, @avg, @min and @max.",
        at: step.start, suggestion: closest)
    }
    var members = walk
    var values: PathWalk?
    // Core Data also accepts `images.size.@sum`, in which the step before the operator names the value.
    if !members.isWhole, !rest.isEmpty || members.crossings.isEmpty {
      throw error(.notMany, "'@\(step.name)' needs a to-many relationship before it.", at: step.start)
    }
    if !members.isWhole {
      values = members
      members.isWhole = true
    }
    guard members.crossings.count == 1, let many = members.crossings.first else {
      throw error(
        .manyValues, "'@\(step.name)' goes over one to-many relationship, and here are several; use SUBQUERY.",
        at: step.start)
    }
    if members.crossingsBehindPlace > 0 && name != "count" { throw behindPlace(at: step.start) }
    guard let function = Self.aggregates[name] else {
      guard rest.isEmpty, values == nil else {
        throw error(.unexpected, "'@count' comes last, behind the relationship.", at: step.start)
      }
      return ResolvedPath(operand: members.wrapped(.count(many.path)), type: .integer)
    }
    var walk =
      values
      ?? PathWalk(Scope(name: nil, variable: many.variable, entity: many.entity), nextVariable: many.variable + 1)
    for step in rest {
      guard !step.isOperator else { throw error(.unsupported, "One '@' follows another.", at: step.start) }
      try advance(&walk, step)
    }
    if values == nil, !walk.crossings.isEmpty || walk.crossingsBehindPlace > 0 {
      throw error(.manyValues, "The values behind '@\(step.name)' lie behind a further to-many.", at: step.start)
    }
    return try aggregated(function, many, walk.end, at: step.start)
  }

  func aggregated(
    _ function: AggregateFunction, _ many: (path: PropertyPath, variable: Int, entity: Entity), _ value: ResolvedPath,
    at start: Int
  ) throws(PredicateFormatError) -> ResolvedPath {
    let isNumeric = function == .sum || function == .average
    let type = value.type
    guard type.isNumber || (!isNumeric && (type == .date || type == .text)) else {
      throw error(
        .typeMismatch,
        "The values are \(type.name); \(isNumeric ? "numbers are" : "a number, date or text is") needed.",
        at: start)
    }
    let operand = Operand.computed(
      .aggregate(function, many.path, variable: many.variable, value.operand, type.kind))
    return ResolvedPath(operand: operand, type: function == .average && type == .integer ? .real : type)
  }
}
