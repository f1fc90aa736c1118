@_spi(Generated) public import TrellisModel
import TrellisStorage

/// A model with its generated classes. The generated code declares one:
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .memory)
/// ```
public struct ObjectModel: Sendable {
  /// The model as declared in its file.
  public let description: ModelDescription
  /// The class of each entity, in the model's order.
  @_spi(Generated) public let types: [ManagedObject.Type]
  /// The checksum of the description, computed when the code was generated.
  package let checksum: String

  /// Creates a model; called by generated code.
  ///
  /// - Parameters:
  ///   - objects: The classes, in the order of the description's entities.
  ///   - checksum: The checksum of the description, so that it need not be computed when a store is opened.
  ///   - generatedCode: The form of the generated code. A version that this runtime does not support fails to compile.
  @_spi(Generated) public init(
    _ description: ModelDescription, objects: [ManagedObject.Type], checksum: String,
    generatedCode: GeneratedCodeVersion
  ) {
    self.checksum = checksum
    self.description = description
    types = objects
    KnownModels.note(objects, of: description)
  }
}

/// The forms of generated code that this runtime supports.
@_spi(Generated) public enum GeneratedCodeVersion: Sendable {
  case version2
}

// MARK: - Entity info

/// The data of an entity that the runtime needs at work: classes and numbers, so that no names or descriptions are
/// copied.
final class EntityInfo: Sendable {
  let number: Int
  let root: Int
  let name: String
  let type: ManagedObject.Type
  /// The relationships by property number; nil for attributes.
  let relationships: [Relationship?]
  /// The relationships in order, without gaps.
  let allRelationships: [Relationship]
  /// The to-one relationships that are stored in the row.
  let references: [Relationship]
  /// The properties of these.
  let referenceMask: ColumnMask
  /// The to-one relationships that are stored and have an inverse.
  let toOnes: [Relationship]
  /// Whether the entity has to-one relationships, stored or not.
  let hasToOnes: Bool
  /// The one-to-one relationships that are their own inverse and are stored in the rows of both partners.
  let couples: [Relationship]
  /// The one-way relationships of any entity with this entity as destination.
  let oneWayReferences: [RelationshipNumberedInfo]
  /// The attributes that are validated at a save.
  let checkedAttributes: [CheckedAttribute]
  /// The expressions of derived attributes, by property number.
  let derivations: [Int: OperandEvaluator]
  /// The composite attributes that may be nil, whose fields are validated at a save.
  let optionalGroups: [OptionalGroup]
  /// The attributes of each of them, as the bits of a ``ColumnMask``.
  let groupBits: [UInt64]
  /// The attributes without a default, which have a value from the initializer on.
  let arguments: ColumnMask
  /// The attributes, stored or not.
  let attributes: ColumnMask
  /// The relationships that a save checks: required ones, and those with rules for their number of members.
  let checkedRelationships: [Relationship]
  /// The checks that a save repeats in the store.
  let storeChecks: StoreChecks
  /// Whether a new or changed object is checked for anything but hooks.
  let isChecked: Bool
  /// Whether a to-many of the entity is stored in a join table.
  let hasPairs: Bool
  /// Whether an ordered to-many of the entity is stored in the rows of its members.
  let placesMembers: Bool
  /// The properties that are stored in the row.
  let storedMask: ColumnMask
  /// The attributes that exist only in memory.
  let transients: ColumnMask
  let transientNumbers: [Int]
  /// The hooks of the class and its superclasses.
  let hooks: HookSet
  let entity: Entity

  struct RelationshipNumberedInfo: Sendable {
    let entity: Int
    let relationship: Relationship
  }

  init(
    _ entity: Entity, type: ManagedObject.Type, relationships: [Relationship?],
    oneWayReferences: [RelationshipNumberedInfo], hooks: HookSet, storeChecks: StoreChecks,
    derivations: [Int: OperandEvaluator]
  ) {
    self.derivations = derivations
    number = entity.index
    root = entity.root
    name = entity.name
    self.type = type
    self.relationships = relationships
    allRelationships = relationships.compactMap(\.self)
    references = allRelationships.filter(\.isColumn)
    referenceMask = ColumnMask(bits: references.reduce(0) { $0 | ColumnMask.bit(of: $1.property) })
    toOnes = allRelationships.filter { !$0.isToMany && !$0.isTransient && $0.inverse != nil }
    hasToOnes = allRelationships.contains { !$0.isToMany }
    couples = allRelationships.filter { $0.isOwnInverse && $0.isColumn }
    self.oneWayReferences = oneWayReferences
    self.hooks = hooks
    self.storeChecks = storeChecks
    attributes = ColumnMask(of: entity.properties.lazy.filter(\.isSetAttribute))
    arguments = ColumnMask(of: entity.properties.lazy.filter(\.isArgument))
    checkedAttributes = entity.properties.compactMap { $0.attribute.flatMap(CheckedAttribute.init) }
    checkedRelationships = allRelationships.filter { relationship in
      relationship.isRequired || relationship.isCounted
    }
    hasPairs = allRelationships.contains(where: \.isJoined)
    placesMembers = allRelationships.contains { $0.isOrdered && $0.home == .inverseColumn }
    optionalGroups = entity.optionalGroups
    groupBits = optionalGroups.map { group in
      (group.presence..<group.fields.upperBound).reduce(0) { $0 | ColumnMask.bit(of: $1) }
    }
    isChecked = !checkedAttributes.isEmpty || !optionalGroups.isEmpty || !checkedRelationships.isEmpty
    storedMask = ColumnMask(bits: entity.storedProperties.reduce(0) { $0 | ColumnMask.bit(of: $1) })
    transientNumbers = entity.properties.filter { $0.isSetAttribute && $0.column == nil }.map(\.index)
    transients = ColumnMask(bits: transientNumbers.reduce(0) { $0 | ColumnMask.bit(of: $1) })
    self.entity = entity
  }

  /// Properties with all others of the composites that may be nil and have one of them.
  func wholeGroups(of properties: Set<Int>) -> Set<Int> {
    optionalGroups.reduce(into: properties) { all, group in
      let members = group.presence..<group.fields.upperBound
      if members.contains(where: all.contains) { all.formUnion(members) }
    }
  }
}

extension Property {
  /// Whether this is an attribute without a default, which has a value from the initializer on.
  var isArgument: Bool {
    isSetAttribute && attribute.map { !$0.isOptional && $0.description.defaultValue == nil } ?? false
  }

  /// Whether the property is an attribute that is not derived.
  var isSetAttribute: Bool { attribute.map { $0.description.derivation == nil } ?? false }
}

extension ColumnMask {
  fileprivate init(of properties: some Sequence<Property>) {
    self.init(bits: properties.reduce(0) { $0 | ColumnMask.bit(of: $1.index) })
  }
}

/// A model in the form that the runtime uses, created once for each container.
final class RuntimeModel: Sendable {
  let model: Model
  /// The cache of parsed formats.
  let formats = FormatCache()
  /// The entities. Each is made when it is first used.
  let entities: LazyList<EntityInfo>
  /// The same entities, as far as they are made. Each change of an object looks at some, and a list would be retained.
  private let madeEntities: LazyList<EntityInfo>.MadeElements
  /// The hooks of all entities.
  let hooks: HookSet
  /// Whether the saves of any entity repeat checks in the store.
  let needsStoreChecks: Bool
  /// Whether any entity has a one-to-one relationship that is its own inverse.
  let hasCouples: Bool
  /// Whether any relationship is one-way.
  let hasOneWayReferences: Bool
  /// The cascades that stores can perform, by entity number.
  private let storeCascades: LazyList<StoreCascades>
  /// The classes by entity number, for the creation of objects from rows.
  @_spi(Generated) public let types: [ManagedObject.Type]

  init(_ objectModel: ObjectModel) throws {
    let model = try Model(objectModel.description, checksum: objectModel.checksum)
    let types = objectModel.types
    guard types.count == model.entities.count, types.indices.allSatisfy({ types[$0]._entity == $0 }) else {
      throw ModelMismatch(model: model.name)
    }
    self.model = model
    self.types = types
    hooks = HookSet(ofEntities: model.description.entities.indices, in: model)
    let oneWay = model.oneWayReferences
    let entities = LazyList(count: types.count) { Self.info($0, types[$0], oneWay, in: model) }
    hasOneWayReferences = !oneWay.isEmpty
    self.entities = entities
    madeEntities = LazyList.MadeElements(of: entities)
    storeCascades = LazyList(count: types.count) { StoreCascades(entities[$0], in: entities) }
    needsStoreChecks = model.hasLinkRules
    hasCouples = model.hasCouples
  }

  /// The entity with a number.
  ///
  /// - Precondition: there is one.
  func info(_ number: Int) -> EntityInfo { madeEntities[number] ?? entities[number] }

  /// What a closure reads of the entity with a number, which is not retained.
  ///
  /// - Precondition: there is one.
  @inline(__always) func read<Value>(_ number: Int, _ value: (EntityInfo) -> Value) -> Value {
    madeEntities.read(at: number, value) ?? value(entities[number])
  }

  private static func info(
    _ number: Int, _ type: ManagedObject.Type, _ oneWay: [Model.OneWayReference], in model: Model
  ) -> EntityInfo {
    let entity = model.entities[number]
    let line = model.lineage(of: number)
    let relationships = entity.properties.map(\.relationship)
    var references: [EntityInfo.RelationshipNumberedInfo] = []
    for reference in oneWay where line.contains(reference.destination) {
      guard let relationship = model.entities[reference.entity].properties[reference.property].relationship else {
        continue
      }
      references.append(.init(entity: reference.entity, relationship: relationship))
    }
    let checks = StoreChecks(relationships.compactMap(\.self), oneWay: references, inverse: model.inverse)
    return EntityInfo(
      entity, type: type, relationships: relationships, oneWayReferences: references,
      hooks: HookSet(ofEntities: line, in: model), storeChecks: checks, derivations: model.derivedValues(of: entity))
  }

  /// The cascade along a relationship as a store can perform it; nil if the members have to be loaded for it.
  func storeCascade(_ relationship: Relationship) -> StoreCascade? {
    storeCascades[relationship.entity].cascades[relationship.property]
  }

  /// The relationship with a number; nil if there is none.
  func relationship(_ number: RelationshipNumber) -> Relationship? { model.relationship(number) }

  /// The relationship with a property's number; nil if the property is none.
  func relationship(_ property: Int, ofEntity number: Int) -> Relationship? {
    read(number) { info in
      property >= 0 && property < info.relationships.count ? info.relationships[property] : nil
    }
  }

  /// The inverse of a relationship; nil for a one-way relationship.
  func inverse(of relationship: Relationship) -> Relationship? {
    guard let inverse = relationship.inverse else { return nil }
    return read(relationship.destination) { $0.relationships[inverse] }
  }
}

/// The hooks of an entity, as a set of bits: most have none, and each loaded object is asked for.
struct HookSet: Sendable {
  private var bits: UInt16 = 0

  /// The hooks that any of some entities declares.
  init(ofEntities entities: some Sequence<Int>, in model: Model) {
    for entity in entities {
      for hook in model.description.entities[entity].hooks { bits |= Self.bit(of: hook) }
    }
  }

  func contains(_ hook: LifecycleHook) -> Bool { bits & Self.bit(of: hook) != 0 }

  func contains(where isMatch: (LifecycleHook) -> Bool) -> Bool {
    bits != 0 && LifecycleHook.allCases.contains { contains($0) && isMatch($0) }
  }

  private static func bit(of hook: LifecycleHook) -> UInt16 {
    switch hook {
    case .didInsert: 1 << 0
    case .didFetch: 1 << 1
    case .willSave: 1 << 2
    case .didSave: 1 << 3
    case .willDelete: 1 << 4
    case .validateInsert: 1 << 5
    case .validateUpdate: 1 << 6
    case .validateDelete: 1 << 7
    }
  }
}

/// The error when the generated classes do not match the model description.
struct ModelMismatch: Error, CustomStringConvertible {
  let model: String

  var description: String {
    "The classes generated for the model '\(model)' do not match its description. Build the package again from clean."
  }
}

// MARK: - Key path table

/// The property of each key path of a class. Classes of models with `foundationPredicates` have such a table.
///
/// The table and its key paths are immutable, so the table can be read from any thread. Therefore `@unchecked` is
/// sound.
@_spi(Generated) public struct KeyPathTable: @unchecked Sendable {
  /// The number that stands for the object's identifier instead of a property.
  public static let identity = -1

  private let numbers: [AnyKeyPath: Int]
  private let derivations: [AnyKeyPath: @Sendable () -> Operand]

  /// Creates a table of property numbers by key path.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of the properties with values of their own.
  ///   - derivations: The expressions of derived attributes, over the object.
  public init(_ numbers: [AnyKeyPath: Int], derived derivations: [AnyKeyPath: @Sendable () -> Operand] = [:]) {
    self.numbers = numbers
    self.derivations = derivations
  }

  /// The expression of a derived attribute, over the object; nil for another key path.
  public func derivation(of keyPath: AnyKeyPath) -> Operand? { derivations[keyPath]?() }

  /// The property's number, ``identity``, or nil if the key path does not belong to the model.
  public func number(of keyPath: AnyKeyPath) -> Int? { numbers[keyPath] }

  /// Whether the table has no key paths.
  public var isEmpty: Bool { numbers.isEmpty }
}

// MARK: - Store checks

/// The relationships of an entity that a save has to check again inside its transaction. Most entities have none.
struct StoreChecks: Sendable {
  /// To-many relationships of the entity with rules for their number of members.
  private(set) var counted: [Relationship] = []
  /// References in the entity's rows with a required to-one or a counted to-many relationship as inverse.
  private(set) var needed: [Relationship] = []
  /// Relationships of other entities, in join tables, that must keep a minimum number of members of this entity.
  private(set) var keepers: [Relationship] = []
  /// Relationships in join tables with a delete rule of `deny` or `cascade`.
  private(set) var denials: [Relationship] = []

  /// Whether the save of a changed or deleted object may have to be checked again.
  var concernsChanges: Bool { !counted.isEmpty || !needed.isEmpty }
  var concernsDeletes: Bool { !needed.isEmpty || !keepers.isEmpty || !denials.isEmpty }

  init(
    _ relationships: [Relationship], oneWay: [EntityInfo.RelationshipNumberedInfo],
    inverse: (Relationship) -> Relationship?
  ) {
    for relationship in relationships where !relationship.isTransient {
      if relationship.isToMany && relationship.isCounted { counted.append(relationship) }
      if relationship.asksForPairs { denials.append(relationship) }
      guard let inverse = inverse(relationship) else { continue }
      if relationship.isColumn && (inverse.isCounted || inverse.isRequired) { needed.append(relationship) }
      if inverse.isJoined && inverse.minimumCount != nil { keepers.append(inverse) }
    }
    for reference in oneWay where reference.relationship.isJoined && reference.relationship.minimumCount != nil {
      keepers.append(reference.relationship)
    }
  }
}

// MARK: - Store cascade

/// The rows that a cascade along one relationship reaches, if the store can perform it. That requires that the members
/// store the reference, and that the reached entities have no delete hooks and no partners that deny a delete, count
/// their members or require the reference.
struct StoreCascade: Sendable {
  /// The entities of rows that may be deleted.
  private(set) var entities: Set<Int> = []
  /// The root entities of their hierarchies, which have the tables that contain the rows.
  private(set) var roots: Set<Int> = []
  /// The references from the deleted rows to their deleted owners.
  private(set) var references: [Relationship] = []
  /// Relationships of other objects that may refer to such rows.
  private(set) var ties: [Relationship] = []

  /// Returns nil if the members have to be loaded.
  init?(_ relationship: Relationship, in entities: LazyList<EntityInfo>) {
    var open = [relationship]
    while let current = open.popLast() {
      guard current.isToMany, current.cascadesInStore,
        let reference = Self.inverse(of: current, in: entities)
      else { return nil }
      if references.contains(where: reference.isSame) { continue }
      references.append(reference)
      for number in entities[current.destination].entity.subtree where self.entities.insert(number).inserted {
        roots.insert(entities[number].root)
        guard add(entities[number], reference, in: entities, &open) else { return nil }
      }
    }
  }

  private static func inverse(of relationship: Relationship, in entities: LazyList<EntityInfo>) -> Relationship? {
    relationship.inverse.flatMap { entities[relationship.destination].relationships[$0] }
  }

  /// - Returns: whether rows of an entity may be deleted without being loaded.
  private mutating func add(
    _ entity: EntityInfo, _ reference: Relationship, in entities: LazyList<EntityInfo>, _ open: inout [Relationship]
  ) -> Bool {
    if entity.hooks.contains(.willDelete) || entity.hooks.contains(.validateDelete) { return false }
    for relationship in entity.allRelationships where !relationship.isSame(as: reference) && !relationship.isTransient {
      if relationship.home == .inverseColumn {
        guard relationship.cascadesInStore && relationship.isToMany else { return false }
        open.append(relationship)
        continue
      }
      if relationship.deleteAction == .deletePartners || relationship.deleteAction == .refuse { return false }
      guard let inverse = Self.inverse(of: relationship, in: entities) else { continue }
      if inverse.isCounted || inverse.isRequired { return false }
      ties.append(inverse)
    }
    for oneWay in entity.oneWayReferences {
      if oneWay.relationship.isRequired || oneWay.relationship.isCounted { return false }
      ties.append(oneWay.relationship)
    }
    return true
  }
}

/// The cascades of one entity that stores can perform.
private final class StoreCascades: Sendable {
  /// By property number; nil for those of which the members have to be loaded, and for what is no relationship.
  let cascades: [StoreCascade?]

  init(_ entity: EntityInfo, in entities: LazyList<EntityInfo>) {
    cascades = entity.relationships.map { $0.flatMap { StoreCascade($0, in: entities) } }
  }
}

extension [Relationship?] {
  /// Whether an entity has a relationship, declared or inherited.
  func contains(_ relationship: Relationship) -> Bool {
    indices.contains(relationship.property) && self[relationship.property]?.isSame(as: relationship) == true
  }
}

// MARK: - Known models

/// The models of this process by class, because a request knows only its class and is printed with names.
enum KnownModels {
  private struct Known {
    let types: [ManagedObject.Type]
    let description: ModelDescription
  }

  private static let all = Locked<[Known]>([])

  static func note(_ types: [ManagedObject.Type], of description: ModelDescription) {
    all.withLock { all in
      // A program has few models, and the classes of each are its own.
      all.removeAll { known in known.types.first.map { first in types.contains { $0 == first } } ?? true }
      all.append(Known(types: types, description: description))
    }
  }

  static func model(of type: ManagedObject.Type) -> Model? {
    let known = all.withLock { all in all.last { known in known.types.contains { $0 == type } } }
    return known.flatMap { try? Model($0.description) }
  }
}

extension Model {
  /// The expressions of the derived attributes of an entity, by property number. A model that the build has checked has
  /// no others than valid ones.
  func derivedValues(of entity: Entity) -> [Int: OperandEvaluator] {
    var values: [Int: OperandEvaluator] = [:]
    for case let attribute? in entity.properties.map(\.attribute) where attribute.description.derivation != nil {
      if let value = try? derivation(of: attribute) {
        values[attribute.index] = try? OperandEvaluator(value.operand)
      }
    }
    return values
  }
}
