import TrellisSchema

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

  init(
    _ entity: Entity, in model: Model, height: Int, providesID: Bool, identityKeyPaths: [String]?
  ) throws(GeneratorError) {
    self.entity = entity
    self.height = height
    self.providesID = providesID
    self.identityKeyPaths = identityKeyPaths
    description = model.description.entities[entity.index]
    modelName = HeaderEmitter.name(of: model)
    parentName = entity.parent.map { model.entities[$0].name }
    hooks = Set(ModelPlan.lineage(entity, in: model).flatMap { model.description.entities[$0.index].hooks })
    notesAssigned = model.entities[entity.root].subtree.contains { !model.entities[$0].uniqueKeys.isEmpty }
    let fields = entity.properties.map { Field($0, in: model) }
    let firstOwn = entity.parent.map { model.entities[$0].properties.count } ?? 0
    PrivateNames.assign(to: fields, lineage: ModelPlan.lineage(entity, in: model).map(\.name))
    var defaults: [Int: Code] = [:]
    for field in fields {
      guard let attribute = field.attribute, let value = attribute.description.defaultValue else { continue }
      defaults[field.number] = try DefaultExpression.code(of: value, for: attribute, in: model, entity: entity)
    }
    self.defaults = defaults
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
  var name: String { entity.name }
  var isRoot: Bool { parentName == nil }
  var isInHierarchy: Bool { entity.isInHierarchy }
  /// The struct with the class's own fields. For a root, it is the snapshot.
  var rowType: String { isRoot ? "Snapshot" : Self.ownFieldsType }
  /// The name of the struct with the fields that a class adds to its parent class.
  static let ownFieldsType = "_Fields"
  /// Whether the class has a row of its own. A root always has one, because it contains the object's identity.
  var hasRow: Bool { isRoot || !ownRowFields.isEmpty }
  var inheritedRowFields: ArraySlice<Field> { rowFields.prefix(rowFields.count - ownRowFields.count) }
  var ownTransients: [Field] { ownFields.filter(\.isTransient) }
  /// The class's own references with an order column.
  var ownPlaces: [Field] { ownFields.filter { $0.placeColumn != nil } }
}
