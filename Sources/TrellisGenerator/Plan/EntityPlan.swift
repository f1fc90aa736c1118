import TrellisSchema

/// Everything about an entity that the emitters look up.
struct EntityPlan {
  let entity: Entity
  let description: EntityDescription
  /// What the model is called behind `ObjectModel`'s dot.
  let modelName: String
  /// The class above; nil for a root.
  let parentName: String?
  /// The number of levels below.
  let height: Int
  /// Inherited fields first.
  let fields: [Field]
  /// The fields that the class declares itself.
  let ownFields: [Field]
  /// The fields that lie in the row, inherited ones first, in the order of their columns.
  let rowFields: [Field]
  /// Those of them that the class declares itself.
  let ownRowFields: [Field]
  /// Whether `id` is the object's identity, declared in this class.
  let providesID: Bool
  /// Whether the class says that it is identifiable: where `id` is declared, by the model or by itself.
  let isIdentifiable: Bool
  /// The names of the identity in key paths; nil where the class need not tell which property a key path leads to.
  let identityKeyPaths: [String]?
  /// The default values of attributes, as Swift, by property number.
  let defaults: [Int: Code]
  /// The hooks of the class and of those above it.
  let hooks: Set<LifecycleHook>
  /// Whether objects remember which values they were given, as those are moved when another object with their unique key is
  /// found at save.
  let notesAssigned: Bool
  /// The fetch requests that the entity declares.
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
    // A to-many is not Hashable, so it cannot be what identifies an object.
    let ownID = fields[firstOwn...].first { $0.name.name == "id" }
    let hasUsableID = ownID.map { if case .toMany = $0.kind { false } else { true } } ?? false
    isIdentifiable = providesID || hasUsableID
  }
}

extension EntityPlan {
  var name: String { entity.name }
  var isRoot: Bool { parentName == nil }
  var isInHierarchy: Bool { entity.isInHierarchy }
  /// The struct that holds what the class itself declares. For a root, that is the snapshot.
  var rowType: String { isRoot ? "Snapshot" : Self.ownFieldsType }
  /// The struct of what a class adds to the one above.
  static let ownFieldsType = "_Fields"
  /// Whether the class holds a row of its own. A root does always: the object's identity is in it.
  var hasRow: Bool { isRoot || !ownRowFields.isEmpty }
  var inheritedRowFields: ArraySlice<Field> { rowFields.prefix(rowFields.count - ownRowFields.count) }
  var ownTransients: [Field] { ownFields.filter(\.isTransient) }
  /// The own references with a place beside them.
  var ownPlaces: [Field] { ownFields.filter { $0.placeColumn != nil } }
}
