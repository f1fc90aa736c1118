public import TrellisModel
@_spi(Generated) public import TrellisStorage

/// The identifier of an object: permanent from its creation, never changed, never reused.
///
/// It is a small value that can be passed to other contexts and tasks, and kept for later runs of the program. It
/// belongs to one store but does not include it: in another store, the same key identifies another object or none. A
/// program with several stores therefore has to keep the store together with the identifier. A copy of a store, such as
/// a backup, has the same identifiers.
///
/// ```swift
/// let id = diary.objectID
/// let names = try await container.perform { context in
///   try context.object(with: id)?.tags.map(\.name)
/// }
/// ```
public struct ObjectID<Object: ManagedObject>: Hashable, Sendable {
  /// The object's key, which is the primary key of its row.
  public let key: Int64

  @_spi(Generated) @inlinable public init(_ key: Int64) { self.key = key }

  /// Returns nil for 0, which is not a valid key.
  @_spi(Generated) @inlinable public init?(optional key: Int64) {
    if key == 0 { return nil }
    self.key = key
  }

  /// The identifier of a snapshot before its object has one.
  @_spi(Generated) @inlinable public static var unassigned: ObjectID { ObjectID(0) }
}

extension ObjectID: Codable {
  public init(from decoder: any Decoder) throws {
    key = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(key)
  }
}

extension ObjectID: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .integer }
  @_spi(Generated) public static var placeholder: ObjectID { ObjectID(0) }
  @_spi(Generated) public static func read(_ row: RowReader, _ column: Int) -> ObjectID {
    ObjectID(row.integer(column))
  }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.integer(key) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .integer(key) }
}

extension ObjectID: CustomStringConvertible {
  public var description: String { "\(Object.self)#\(key)" }
}

// MARK: - Any object ID

/// The identifier of an object with a class that is not known at compile time, for messages and for lists of objects of
/// several entities.
///
/// ```swift
/// for failure in error.failures { show(failure.message, beside: try context.object(with: failure.object)) }
/// ```
/// It includes the model of its entity, so entities with the same name in different models are distinguished. Like
/// ``ObjectID``, it does not include its store.
public struct AnyObjectID: Hashable, Sendable, CustomStringConvertible {
  /// The name of the object's entity in the model.
  public let entity: String
  /// The object's key, which is the primary key of its row.
  public let key: Int64
  /// The entity's class, which is unique among all entities of all models with generated classes.
  let type: ManagedObject.Type

  init(_ object: ManagedObject, _ info: EntityInfo) { self.init(object._key, info) }

  init(_ key: Int64, _ info: EntityInfo) {
    entity = info.name
    type = info.type
    self.key = key
  }

  /// Creates an identifier for an object that need not exist, for tests.
  package init(entity: String, key: Int64, type: ManagedObject.Type) {
    self.entity = entity
    self.type = type
    self.key = key
  }

  /// The identifier of an object of any class.
  public init(_ object: ManagedObject) {
    type = Swift.type(of: object)
    entity = object._entityName
    key = object._key
  }

  /// The entity and the key: `Team#7`.
  public var description: String { "\(entity)#\(key)" }

  public static func == (left: AnyObjectID, right: AnyObjectID) -> Bool {
    // Classes without generated code are shared by all models.
    left.key == right.key && left.type == right.type && left.entity == right.entity
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(ObjectIdentifier(type))
  }
}

// MARK: - Context link

/// An object's reference to its context, which does not keep the context alive.
///
/// Swift's `weak` would need a side table for each context and slow down every retain. Instead, each context has one
/// such object, and clears the reference in it when the context is deinitialized.
@_spi(Generated) public final class ContextLink {
  // Sound because a context and its objects are confined to one isolation domain, as neither is Sendable, and because
  // the context's deinit sets this to nil before its memory is freed.
  @exclusivity(unchecked) private var reference: Unmanaged<ObjectGraph>?

  /// The graph of the context; nil after the context's deinitialization.
  var graph: ObjectGraph? {
    @inline(__always) get { reference?.takeUnretainedValue() }
    set { reference = newValue.map(Unmanaged.passUnretained) }
  }

  /// Calls a closure with the graph, which is not retained: the closure calls no code of the user, which could release
  /// the context.
  ///
  /// - Returns: nil after the context's deinitialization.
  @inline(__always) func withGraph<Result>(_ body: (ObjectGraph) -> Result) -> Result? {
    reference?._withUnsafeGuaranteedRef(body)
  }

  /// The object of the context with a key; nil if it is not in memory.
  func object(_ key: Int64) -> ManagedObject? { withGraph { $0.map[key] } ?? nil }

  /// The parts of a deinitialized context that are still needed; nil before.
  var remains: ContextRemains?

  init() {}

  /// The entity with a number in the model of the context, also after its deinitialization; nil if there is none.
  package func entity(_ number: Int) -> Entity? {
    guard let entities = (graph?.runtime ?? remains?.runtime)?.entities, entities.indices.contains(number) else {
      return nil
    }
    return entities[number].entity
  }
}

/// The parts of a context that objects need after its deinitialization to report problems.
struct ContextRemains {
  let runtime: RuntimeModel
  let report: @Sendable (ContextError) -> Void
}

extension ManagedObject {
  /// Reports an access to the object that needs its context after the context was deinitialized: once for reads and
  /// once for writes.
  @inline(never) final func reportContextGone(_ property: Int, isWrite: Bool = false) {
    guard let remains = link.remains else { return }
    let extras = needExtras()
    let isKnown = isWrite ? extras.hasToldOfWrite : extras.hasToldOfRead
    if isWrite { extras.hasToldOfWrite = true } else { extras.hasToldOfRead = true }
    guard !isKnown else { return }
    let name = remains.runtime.name(of: property, type(of: self))
    remains.report(
      isWrite
        ? ContextError(.ignoredWrite, "A value set to \(name) was ignored, since the object's context is gone.")
        : ContextError(.loadFailed, "\(name) was not loaded, and the object's context is gone.")
    )
  }
}

extension RuntimeModel {
  /// The name of an entity and its property, for messages; only the entity if there is no such property.
  fileprivate func name(of property: Int, _ type: ManagedObject.Type) -> String {
    let entity = entities[type._entity]
    let properties = entity.entity.properties
    return properties.indices.contains(property) ? "\(entity.name).\(properties[property].name)" : entity.name
  }
}

// MARK: - Descriptions

extension ManagedObject: CustomStringConvertible {
  /// The entity and the object's key, `EmotionDiary#3`. Nothing is loaded for it, and it contains no user data.
  public var description: String { "\(_entityName)#\(_key)" }

  /// The name of the object's entity.
  package final var _entityName: String {
    let type = Swift.type(of: self)
    if let entity = link.entity(type._entity) { return entity.name }
    // The object was created in a context of another model, and belongs to none.
    let entities = type._model?.description.entities ?? []
    return entities.indices.contains(type._entity) ? entities[type._entity].name : "\(type)"
  }
}

extension ToMany: CustomStringConvertible {
  /// The members as an array prints them, `[Tag#1, Tag#2]`. They are loaded if necessary.
  public var description: String { objects.description }
}

extension OrderedToMany: CustomStringConvertible {
  /// The members as an array prints them, `[DiaryImage#1, DiaryImage#2]`. They are loaded if necessary.
  public var description: String { objects.description }
}

// MARK: - Row copy

/// The values of an object, or the part of them that one class of a hierarchy declares.
public protocol StoredFields {
  /// The value of a property by its number; nil if it belongs to another part.
  @_spi(Generated) func _value(_ property: Int) -> StoredValue?
}

extension StoredFields {
  /// The default implementation, for transient values, which are not part of a row.
  @_spi(Generated) public func _value(_ property: Int) -> StoredValue? { nil }
}

/// A copy of an object's row, kept from the first change until the next save or rollback.
@_spi(Generated) open class RowCopyBase {
  /// The part that the parent entity's class declares.
  public final let parent: RowCopyBase?
  /// The transient values of the same moment; nil for an object without any. Set once, when the copy is made.
  @exclusivity(unchecked) final var transients: RowCopyBase?

  init(parent: RowCopyBase?) { self.parent = parent }

  /// The part that a class of the hierarchy declares, in this copy or a parent.
  public final func part<Row: StoredFields>(_ type: Row.Type) -> Row? {
    var copy: RowCopyBase? = self
    while let current = copy {
      if let found = current as? RowCopy<Row> { return found.row }
      copy = current.parent
    }
    return nil
  }

  /// The value of a stored property by its number.
  func value(_ property: Int) -> StoredValue { .null }
}

/// The part of a copied row that one class declares.
///
/// `Row` has no constraint, because the runtime would search all conformances of the program for it, when the class is
/// first used for an entity.
@_spi(Generated) public final class RowCopy<Row>: RowCopyBase {
  /// The copied values.
  public let row: Row
  /// The type of ``row``, as what it conforms to.
  private let fields: any StoredFields.Type

  fileprivate init(_ row: consuming Row, parent: RowCopyBase?, fields: any StoredFields.Type) {
    self.row = row
    self.fields = fields
    super.init(parent: parent)
  }

  override func value(_ property: Int) -> StoredValue {
    fields.value(property, in: self) ?? parent?.value(property) ?? .null
  }
}

extension StoredFields {
  /// The value of a property in a copy of a row of this type.
  fileprivate static func value(_ property: Int, in copy: RowCopyBase) -> StoredValue? {
    // Sound because a copy passes itself to the type of its row.
    unsafeDowncast(copy, to: RowCopy<Self>.self).row._value(property)
  }
}

extension RowCopy where Row: StoredFields {
  /// Creates a copy of the values, with the part of the parent entity's class.
  @_spi(Generated) public convenience init(_ row: consuming Row, parent: RowCopyBase? = nil) {
    self.init(row, parent: parent, fields: Row.self)
  }
}

extension StoredValue {
  /// The key in a column of references; 0 for null.
  var key: Int64 { if case .integer(let key) = self { key } else { 0 } }
}
