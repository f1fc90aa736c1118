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
        try checkIsWhole(walk, at: step.start)
        return try aggregate(step, after: walk, rest: path.steps[(place + 1)...])
      }
      do {
        try advance(&walk, step)
      } catch {
        guard error.code == .unknownProperty, let advice = advice(on: step, after: walk, path) else { throw error }
        throw self.error(.unknownProperty, "'\(step.name)' is no property here; \(advice)", at: step.start)
      }
    }
    if walk.crossingsBehindPlace > 0 { throw behindPlace(at: start) }
    try checkIsWhole(walk, at: start)
    return walk.end
  }

  /// Checks that a path does not end at a composite that always has a value.
  private func checkIsWhole(_ walk: PathWalk, at start: Int) throws(PredicateFormatError) {
    guard let group = walk.group, group.presence == nil else { return }
    throw error(
      .typeMismatch, "'\(group.name)' is a composite; name one of its fields: \(group.fieldNames.listed).", at: start)
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
    let name = walk.group.map { "\($0.name).\(step.name)" } ?? step.name
    if let group = entity.composite(named: name) { return walk.enter(group) }
    guard let property = entity.property(named: name) else {
      if let group = walk.group { throw unknown(step, of: group) }
      // The object's identity, with the names that Core Data uses.
      if step.name == "objectID" || step.name == "self" { return }
      if step.name == "entity" { return walk.endAtEntity() }
      throw unknown(step, of: entity)
    }
    switch property {
    case .attribute(let attribute):
      if let value = try derivation(of: attribute, at: step) { return walk.end(at: value) }
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

  /// The expression of a derived attribute; nil for another attribute. The build reports its faults at its declaration.
  private func derivation(of attribute: Attribute, at step: FormatPath.Step) throws(PredicateFormatError)
    -> CheckedValue?
  {
    do throws(PredicateFormatError) {
      return try model.derivation(of: attribute)
    } catch {
      let message = error.code == .tooDeep ? error.message : "The expression of '\(attribute.name)' is wrong."
      throw self.error(error.code, message, at: step.start)
    }
  }

  private func unknown(_ step: FormatPath.Step, of group: Composite) -> PredicateFormatError {
    let names = group.type.members.map(\.name)
    let closest = NearestName.closest(to: step.name, among: names)
    let hint = closest.map { "; did you mean '\($0)'?" } ?? "; it has \(names.listed)."
    return error(
      .unknownProperty, "The composite '\(group.type.name)' has no field '\(step.name.prefix(60))'\(hint)",
      at: step.start, suggestion: closest)
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
    try checkIsWhole(walk, at: step.start)
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

// MARK: - Path walk

/// The state of resolving a path.
struct PathWalk {
  private(set) var crossings: [(path: PropertyPath, variable: Int, entity: Entity)] = []
  /// Whether the last step was a to-many relationship.
  var isWhole = false
  /// The current entity; nil after an attribute.
  private(set) var entity: Entity?
  /// The value of a derived attribute at the end of the path.
  private var derived: Operand?
  /// The composite attribute that the last step has reached, which the next step continues.
  private(set) var group: Composite?
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
    leaveObjects(type)
  }

  mutating func end(at value: CheckedValue) {
    derived = value.operand.rooted(at: path, firstVariable: nextVariable)
    leaveObjects(value.type)
  }

  /// Ends the path at a value, behind which no property follows.
  private mutating func leaveObjects(_ type: FormatType) {
    self.type = type
    group = nil
    entity = nil
    relationship = nil
    isWhole = false
  }

  mutating func enter(_ group: Composite) {
    self.group = group
    relationship = nil
    isWhole = false
  }

  mutating func endAtEntity() {
    leaveObjects(.entity)
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
    if let derived { return ResolvedPath(crossings: crossings, operand: wrapped(derived), type: type) }
    // What a composite is compared with is nil.
    if let presence = group?.presence {
      return ResolvedPath(crossings: crossings, operand: wrapped(.path(path.appending(presence))), type: .bool)
    }
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

// MARK: - Format casts

/// `CAST(value, 'type')`.
extension FormatChecker {
  mutating func cast(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatSide {
    guard arguments.count == 2, case .text(let target) = arguments[1].content else {
      throw error(
        .wrongArgument, "CAST needs a value and a type in quotes, as in CAST('2026-01-31', 'NSDate').", at: start)
    }
    let value = try side(arguments[0])
    let place = arguments[0].start
    switch target.lowercased() {
    case "nsdate", "date": return try date(value, at: place)
    case "nsdecimalnumber", "decimal":
      switch value {
      case .number(let digits), .text(let digits):
        if let text = DecimalText.canonical(digits) { return .typed(.value(.text(text)), .decimal) }
        if case .text = value {
          throw error(.invalidConstant, "This is no decimal number of at most 38 digits.", at: place)
        }
        return try converted(value, .decimal, .decimal, at: place)
      default: return try converted(value, .decimal, .decimal, at: place)
      }
    case "double": return try converted(value, .real, .real, at: place)
    case "nsnumber":
      if case .typed(let operand, .date) = value { return .typed(Self.applied(.seconds, to: operand), .real) }
      if case .argument(.value(let moment, .date)) = value {
        return .typed(.value(ValueArithmetic.apply(.seconds, moment)), .real)
      }
      return try converted(value, .real, .real, at: place)
    case "nsstring", "string": return try text(value, at: place)
    case "nsdata", "data": return .typed(.value(.blob(try decoded(value, "Base64", Base64Text.bytes, place))), .data)
    case "nsuuid", "uuid": return .typed(.value(.blob(try decoded(value, "UUID", UUIDText.bytes, place))), .uuid)
    case "objectid", "nsmanagedobjectid":
      guard case .number(let digits) = value, let key = Int64(digits) else {
        throw error(.invalidConstant, "An object's key is a whole number.", at: place)
      }
      return .typed(.value(.integer(key)), .object(nil))
    default:
      throw error(
        .unknownFunction,
        "There is no such type to cast to; there are 'NSDate', 'NSNumber', 'NSString', 'Decimal', 'Double', 'Data' and 'UUID'.",
        at: arguments[1].start)
    }
  }

  private func date(_ value: FormatSide, at start: Int) throws(PredicateFormatError) -> FormatSide {
    switch value {
    case .typed(_, .date), .argument(.value(_, .date)): return value
    case .text(let text), .argument(.value(.text(let text), .text)):
      if let micros = DateText.microseconds(text) { return .typed(.value(.integer(micros)), .date) }
      throw error(
        .invalidConstant, "This is no date; dates are written 2026-01-31 or 2026-01-31T09:30:00Z.", at: start)
    case .number(let digits):
      // A number is seconds since 2001, as Core Data prints dates.
      let sinceReference = ValueArithmetic.apply(
        .microseconds, DecimalText.canonical(digits).map { .text($0) } ?? .null)
      let micros = ValueArithmetic.compute(.add, sinceReference, .integer(ValueArithmetic.referenceDate))
      if case .integer = micros { return .typed(.value(micros), .date) }
      throw error(.invalidConstant, "This number of seconds is too large for a date.", at: start)
    case .typed(let operand, let type) where type.isNumber: return Self.date(operand)
    case .argument(.value(let seconds, let type)) where type.isNumber: return Self.date(.value(seconds))
    default: throw error(.typeMismatch, "Only a text or seconds since 2001 can be made a date.", at: start)
    }
  }

  /// Converts seconds since 2001 to a date.
  private static func date(_ seconds: Operand) -> FormatSide {
    let micros = Operand.computed(.function(.microseconds, seconds))
    return .typed(.computed(.arithmetic(.add, .value(.integer(ValueArithmetic.referenceDate)), micros)), .date)
  }

  /// Converts a number to a text. Text values stay unchanged.
  private func text(_ value: FormatSide, at start: Int) throws(PredicateFormatError) -> FormatSide {
    let (operand, type) = try typed(value, at: start)
    switch type {
    case .text, .url, .entity: return .typed(operand, .text)
    case .enumeration where kind(type) == .text: return .typed(operand, .text)
    case .integer, .real, .decimal, .bool, .enumeration: return .typed(Self.applied(.text, to: operand), .text)
    case .date, .data, .uuid, .object, .json:
      throw error(
        .typeMismatch,
        "This is \(type.name), of which stores make no text; make a value of its kind, and compare that.",
        at: start)
    }
  }

  /// Applies a function; a function of a constant is a constant.
  private static func applied(_ function: ValueFunction, to operand: Operand) -> Operand {
    if case .value(let constant) = operand { return .value(ValueArithmetic.apply(function, constant)) }
    return .computed(.function(function, operand))
  }

  private func converted(
    _ value: FormatSide, _ function: ValueFunction, _ type: FormatType, at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    let (operand, given) = try typed(value, at: start)
    // A text that is a plain number converts to it; any other text converts to nil.
    if given != .text { try expectNumber(given, at: start) }
    if given == type { return .typed(operand, type) }
    let result = Self.applied(function, to: operand)
    if case .value(.null) = result {
      throw error(
        .invalidConstant, given == .text ? "This text is no number." : "This number is not \(type.name).", at: start)
    }
    return .typed(result, type)
  }

  private func decoded(
    _ value: FormatSide, _ what: String, _ decode: (String) -> [UInt8]?, _ start: Int
  ) throws(PredicateFormatError) -> [UInt8] {
    if case .text(let text) = value, let bytes = decode(text) { return bytes }
    throw error(.invalidConstant, "This is no \(what).", at: start)
  }
}
