import TrellisModel

/// The properties of a model that the emitters use.
struct ModelPlan {
  let model: Model
  let entities: [EntityPlan]

  init(_ description: ModelDescription, foundationPredicates: Bool) throws(GeneratorError) {
    let model: Model
    do {
      model = try Model(description)
    } catch {
      throw GeneratorError(error.description)
    }
    try NameCheck.check(model)
    self.model = model
    entities = try Self.plans(of: model, foundationPredicates: foundationPredicates)
  }

  private static func plans(
    of model: Model, foundationPredicates: Bool
  ) throws(GeneratorError) -> [EntityPlan] {
    var plans: [EntityPlan] = []
    let heights = model.entities.map { height(of: $0, in: model) }
    for entity in model.entities {
      let identity = isFreeOfID(entity, in: model) ? ["objectID", "id"] : ["objectID"]
      plans.append(
        try EntityPlan(
          entity, in: model, height: heights[entity.index], providesID: providesID(entity, in: model),
          identityKeyPaths: foundationPredicates ? identity : nil))
    }
    return plans
  }

  /// The number of levels below an entity.
  private static func height(of entity: Entity, in model: Model) -> Int {
    var height = 0
    for descendant in entity.subtree {
      height = max(height, lineage(model.entities[descendant], in: model).count)
    }
    return height - lineage(entity, in: model).count
  }

  /// The entity and its ancestors, from the entity upwards.
  static func lineage(_ entity: Entity, in model: Model) -> [Entity] {
    var line = [entity]
    while let parent = line[line.count - 1].parent { line.append(model.entities[parent]) }
    return line
  }

  /// Whether a class gets an `id` for its object's identity: neither the class nor its ancestors or descendants have
  /// one.
  private static func providesID(_ entity: Entity, in model: Model) -> Bool {
    guard isFreeOfID(entity, in: model) else { return false }
    return entity.parent.map { !isFreeOfID(model.entities[$0], in: model) } ?? true
  }

  /// Whether neither the entity nor its ancestors or descendants have a property `id`.
  private static func isFreeOfID(_ entity: Entity, in model: Model) -> Bool {
    entity.subtree.allSatisfy { member in model.entities[member].properties.allSatisfy { $0.swiftName != "id" } }
  }
}

// MARK: - Entity plan

/// The properties of an entity that the emitters use.
struct EntityPlan {
  let entity: Entity
  let description: EntityDescription
  /// The name of the model as a member of `ObjectModel`.
  let modelName: String
  /// The parent class; nil for a root.
  let parentName: String?
  /// The number of levels of subclasses.
  let height: Int
  /// The fields, inherited ones first.
  let fields: [Field]
  /// The fields that the class itself declares.
  let ownFields: [Field]
  /// The fields stored in the row, inherited ones first, in the order of their columns.
  let rowFields: [Field]
  /// The fields stored in the row that the class itself declares.
  let ownRowFields: [Field]
  /// Whether this class declares an `id` that returns the object's identity.
  let providesID: Bool
  /// Whether the class declares conformance to `Identifiable`: it has an `id`, from the model or generated.
  let isIdentifiable: Bool
  /// The names of the identity in key paths; nil if the class needs no key path table.
  let identityKeyPaths: [String]?
  /// The default values of attributes as Swift code, by property number.
  let defaults: [Int: Code]
  /// The hooks of the class and its parent classes.
  let hooks: Set<LifecycleHook>
  /// Whether objects record their assigned values. If a save finds another object with the same unique key, these
  /// values are moved to it.
  let notesAssigned: Bool
  /// The fetch requests that the entity itself declares.
  let requests: [RequestPlan]
  /// The composite attributes, inherited ones first.
  let composites: [CompositePlan]
  /// The composite attributes that the class itself declares.
  let ownComposites: [CompositePlan]

  init(
    _ entity: Entity, in model: Model, height: Int, providesID: Bool, identityKeyPaths: [String]?
  ) throws(GeneratorError) {
    self.entity = entity
    self.height = height
    self.providesID = providesID
    self.identityKeyPaths = identityKeyPaths
    description = model.description.entities[entity.index]
    modelName = ModelPlan.name(of: model)
    parentName = entity.parent.map { model.className(of: $0) }
    hooks = Set(ModelPlan.lineage(entity, in: model).flatMap { model.description.entities[$0.index].hooks })
    notesAssigned = model.entities[entity.root].subtree.contains { !model.entities[$0].uniqueKeys.isEmpty }
    let fields = entity.properties.map { Field($0, in: model) }
    let firstOwn = entity.parent.map { model.entities[$0].properties.count } ?? 0
    PrivateNames.assign(to: fields, lineage: ModelPlan.lineage(entity, in: model).map { model.className(of: $0.index) })
    var defaults: [Int: Code] = [:]
    for field in fields {
      guard let attribute = field.attribute, let value = attribute.description.defaultValue else { continue }
      defaults[field.number] = try DefaultExpression.code(of: value, for: attribute, in: model, entity: entity)
    }
    self.defaults = defaults
    composites = entity.composites.map { CompositePlan($0, fields, defaults: defaults) }
    ownComposites = composites.filter { $0.composite.attributes.lowerBound >= firstOwn }
    var requests: [RequestPlan] = []
    for request in description.fetchRequests { requests.append(try RequestPlan(request, of: entity, in: model)) }
    self.requests = requests
    self.fields = fields
    ownFields = Array(fields[firstOwn...])
    rowFields = fields.filter { $0.column != nil }
    ownRowFields = ownFields.filter { $0.column != nil }
    // A to-many relationship is not Hashable, so it cannot be the identity.
    let ownID = fields[firstOwn...].first { $0.name.name == "id" }
    let hasUsableID = ownID.map { if case .toMany = $0.kind { false } else { true } } ?? false
    isIdentifiable = providesID || hasUsableID
  }
}

extension EntityPlan {
  /// The name of the class.
  var name: String { description.swiftName ?? entity.name }
  /// Whether the entity's code contains types of Foundation.
  var needsFoundation: Bool {
    fields.contains { field in
      if case .derived(let attribute, _) = field.kind { return SwiftType.needsFoundation(attribute.description) }
      return field.attribute.map { SwiftType.needsFoundation($0.description) } ?? false
    }
      || requests.contains { $0.parameters.contains { $0.type.contains("Foundation.") } }
  }
  var isRoot: Bool { parentName == nil }
  var isInHierarchy: Bool { entity.isInHierarchy }
  /// The struct with the class's own fields. For a root, it is the snapshot.
  var rowType: String { isRoot ? "Snapshot" : Self.ownFieldsType }
  /// The name of the struct with the fields that a class adds to its parent class.
  static let ownFieldsType = "_Fields"
  /// Whether the class has a row of its own. A root always has one, because it contains the object's identity.
  var hasRow: Bool { isRoot || !ownRowFields.isEmpty }
  var inheritedRowFields: ArraySlice<Field> { rowFields.prefix(rowFields.count - ownRowFields.count) }
  /// Whether the initializer has an attribute's default as the default of its argument. Otherwise the argument is
  /// optional: whether it was given matters if another object may have the same unique key, a default argument may not
  /// use what only generated code may, and a long one is not read.
  func hasDefaultArgument(_ field: Field) -> Bool {
    guard !notesAssigned, let code = defaults[field.number], let attribute = field.attribute?.description,
      let value = attribute.defaultValue, DefaultExpression.canBeArgument(value, attribute)
    else { return false }
    switch value {
    case .now, .new: return true
    case .value, .list: return code.flat.utf8.count <= 60
    }
  }
  /// What the initializer asks for: attributes, composites and to-one relationships.
  enum Parameter {
    case field(Field)
    case composite(CompositePlan)

    var name: Identifier {
      switch self {
      case .field(let field): field.name
      case .composite(let composite): composite.name
      }
    }
  }

  /// The parameters of the initializer, those of parent classes first. To-one relationships follow the others.
  var parameters: [Parameter] { parameters(of: fields[...]) }

  /// The parameters that the initializer of the parent class has.
  var inheritedParameters: [Parameter] { parameters(of: fields.prefix(fields.count - ownFields.count)) }

  private func parameters(of fields: ArraySlice<Field>) -> [Parameter] {
    let firsts = Dictionary(uniqueKeysWithValues: composites.map { ($0.composite.attributes.lowerBound, $0) })
    return fields.compactMap { field in
      if let composite = firsts[field.number] { return .composite(composite) }
      return field.attribute == nil || field.isField ? nil : .field(field)
    } + fields.filter(\.isToOne).map { .field($0) }
  }

  var ownTransients: [Field] { ownFields.filter(\.isTransient) }
  /// The class's own references with an order column.
  var ownPlaces: [Field] { ownFields.filter { $0.placeColumn != nil } }
}

// MARK: - Field

/// A property in generated code: its number, its Swift name and type, and its storage.
///
/// A class rather than a struct, because emitters pass fields around often and an attribute is expensive to copy.
final class Field {
  enum Kind {
    /// An attribute stored in the row, with its column.
    case attribute(Attribute, column: Int)
    /// An attribute in memory only.
    case transient(Attribute)
    /// An attribute that is computed from others, with its expression.
    case derived(Attribute, Operand)
    /// A to-one stored in the row, with its column and the column of its position in the inverse's order.
    case reference(Relationship, column: Int, place: Int?)
    /// A to-one stored at the other end, or in memory only.
    case partner(Relationship)
    case toMany(Relationship)
  }

  let kind: Kind
  let number: Int
  let name: Identifier
  let doc: String?
  /// The class, struct or enum without `?`: the type of an attribute's value or of a relationship's objects.
  let base: String
  /// The Swift name of a relationship's inverse.
  let inverseName: String?
  /// The name of the private property for a transient value or the position of a reference.
  var storage = ""

  init(_ property: Property, in model: Model) {
    number = property.index
    name = Identifier(property.swiftName)
    switch property {
    case .attribute(let attribute):
      if let value = try? model.derivation(of: attribute) {
        kind = .derived(attribute, value.operand)
      } else {
        kind = attribute.column.map { .attribute(attribute, column: $0) } ?? .transient(attribute)
      }
      base = SwiftType.name(of: attribute.description)
      doc = attribute.description.doc
      inverseName = nil
    case .relationship(let relationship):
      kind = Self.kind(of: relationship)
      base = model.className(of: relationship.destination)
      doc = relationship.description.doc
      inverseName = model.inverse(of: relationship).map { Property.relationship($0).swiftName }
    }
  }

  private static func kind(of relationship: Relationship) -> Kind {
    if relationship.isToMany { return .toMany(relationship) }
    guard case .column(let column, let place) = relationship.home else { return .partner(relationship) }
    return .reference(relationship, column: column, place: place)
  }
}

extension Field {
  var attribute: Attribute? {
    switch kind {
    case .attribute(let attribute, _), .transient(let attribute): attribute
    default: nil
    }
  }

  /// The type of the property in the class.
  var type: String {
    switch kind {
    case .attribute(let attribute, _), .transient(let attribute), .derived(let attribute, _):
      attribute.isOptional ? base + "?" : base
    case .reference, .partner: base + "?"
    case .toMany(let relationship): "\(relationship.isOrdered ? TypeName.orderedToMany : TypeName.toMany)<\(base)>"
    }
  }

  /// The type of the field in the row.
  var rowType: String {
    if isReference { return "\(TypeName.objectID)<\(base)>?" }
    guard let attribute, isExternal else { return type }
    return TypeName.externalData + (attribute.isOptional ? "?" : "")
  }

  /// Whether the row holds a handle to external data that the property loads.
  var isExternal: Bool {
    if case .attribute(let attribute, _) = kind { attribute.description.isExternal } else { false }
  }

  /// Whether the field is one of a composite, for which the class has one property.
  var isField: Bool { attribute?.isField == true }

  var isDerived: Bool { if case .derived = kind { true } else { false } }

  var isReference: Bool { if case .reference = kind { true } else { false } }
  var isTransient: Bool { if case .transient = kind { true } else { false } }

  /// The column of the value or the reference; nil if the field is not stored in the row.
  var column: Int? {
    switch kind {
    case .attribute(_, let column), .reference(_, let column, _): column
    default: nil
    }
  }

  /// The order column of a reference.
  var placeColumn: Int? { if case .reference(_, _, let place) = kind { place } else { nil } }

  /// Whether the property is a to-one relationship.
  var isToOne: Bool {
    switch kind {
    case .reference, .partner: true
    default: false
    }
  }
}

// MARK: - Private names

/// The names of private properties of a class: `_memo` for the transient `memo`, `_diaryPlace` for the position of
/// `diary`.
enum PrivateNames {
  /// Names with an underscore that generated classes or their common base class use.
  private static let taken: Set<String> = [
    "_changes", "_committed", "_committedRow", "_copyRow", "_copyTransients", "_description",
    "_didFetch", "_didInsert", "_didSave", "_finishInsert", "_noteFetch", "_validateDelete", "_validateInsert",
    "_validateUpdate", "_willDelete", "_willSave", "_entity",
    "_findPartner",
    "_key", "_markAssigned", "_model", "_partner", "_place", "_read", "_reference", "_restore",
    "_restoreTransients", "_row", "_setPartner", "_setPlace",
    "_setReference",
    "_slowRead", "_slowWrite", "_value", "_willRead", "_willWrite",
  ]

  /// The function that implements `snapshot` in a hierarchy, where each class needs a different name.
  static func snapshot(of entity: String) -> String { "_\(Identifier(entity).lowerCamel.name)Snapshot" }
  /// The function that implements `committed` in a hierarchy.
  static func committed(of entity: String) -> String { "_\(Identifier(entity).lowerCamel.name)Committed" }

  /// - Parameter lineage: the names of the class and its parent classes.
  static func assign(to fields: [Field], lineage: [String]) {
    var names = taken.union(lineage.flatMap { [snapshot(of: $0), committed(of: $0)] })
    for field in fields {
      if field.isTransient {
        field.storage = free("_" + field.name.name, &names)
      } else if field.placeColumn != nil {
        field.storage = free("_\(field.name.name)Place", &names)
      }
    }
  }

  private static func free(_ name: String, _ names: inout Set<String>) -> String {
    var name = name
    while !names.insert(name).inserted { name += "_" }
    return name
  }
}

extension ModelPlan {
  /// The name after the dot in `PersistentContainer(model: .diary, …)`.
  static func name(of model: Model) -> String {
    let name = Identifier(model.name).lowerCamel
    return Keywords.special.contains(name.name) ? name.name + "Model" : name.spelled
  }
}
