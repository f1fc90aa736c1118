public import Foundation
public import Observation
public import TrellisModel
public import TrellisStorage

/// The base class of all generated classes: key, state, and the reference to the context.
///
/// Objects belong to their context and to its isolation domain; they are not Sendable. Pass an ``ObjectID`` or a
/// snapshot to other domains instead.
open class ManagedObject: StoredRecord {
  /// The object's state in its life cycle, and the flags that an access has to handle.
  ///
  /// `@exclusivity(unchecked)` here and on the generated rows halves the cost of an access. It is sound because no
  /// method of the state calls other code, each access ends before the next begins, and the context is confined to one
  /// domain.
  @exclusivity(unchecked) @usableFromInline final var state: ObjectState
  @_spi(Generated) public final let _key: Int64
  final let link: ContextLink
  /// The committed row, and what is known about relationships that are not stored in the row.
  @exclusivity(unchecked) final var notes = ObjectNotes.none

  /// Creates a new object and registers it as inserted. If the class belongs to another model, which is reported and
  /// thrown by the context's next fetch or save, the object is detached.
  @_spi(Generated) public init(_insertedInto context: ManagedObjectContext) {
    let graph = context.graph
    _key = graph.takeKey()
    link = graph.link(forNew: type(of: self))
    let isOwn = link === graph.link
    state = isOwn ? .inserted : .detached
    if isOwn { graph.registerInserted(self) }
  }

  /// Creates the object for a row. Both parameters are borrowed, because owned parameters would be retained and
  /// released for each row.
  @_spi(Generated) public required init(_ row: borrowing RowReader, in link: borrowing ContextLink) {
    _key = row.key
    self.link = copy link
    state = .persistent(row.version)
  }

  // MARK: Overridden by generated classes

  /// The model that the class was generated for; nil for a class that does not belong to a model.
  @_spi(Generated) open class var _model: ObjectModel? { nil }
  /// The entity's number in its model.
  @_spi(Generated) open class var _entity: Int { -1 }
  /// The property of each key path; empty unless the model enables it.
  @_spi(Generated) open class var _keyPaths: KeyPathTable { KeyPathTable([:]) }
  /// Replaces the values with those of a row.
  @_spi(Generated) open func _read(_ row: RowReader) {}
  @_spi(Generated) open func writeColumns(of properties: ColumnMask, to row: RowWriter) {}
  /// The value of an attribute, or the key of a to-one relationship that is stored in the row.
  @_spi(Generated) open func _value(_ property: Int) -> StoredValue { .null }
  /// The key of a to-one relationship that is stored in the row, 0 for nil; -1 if the property is stored elsewhere.
  @_spi(Generated) open func _reference(_ property: Int) -> Int64 { -1 }
  @_spi(Generated) open func _setReference(_ property: Int, _ key: Int64) {}
  /// The position among the members of the ordered to-many relationship that is the inverse of this to-one
  /// relationship.
  @_spi(Generated) open func _place(_ property: Int) -> Int64? { nil }
  @_spi(Generated) open func _setPlace(_ property: Int, _ place: Int64?) {}
  /// Copies the row before its first change.
  @_spi(Generated) open func _copyRow() -> RowCopyBase { RowCopyBase(parent: nil) }
  /// Restores the marked properties from a copy.
  @_spi(Generated) open func _restore(_ properties: ColumnMask, from copy: RowCopyBase) {}
  /// Copies the transient values before the first change; nil for a class without any.
  @_spi(Generated) open func _copyTransients() -> RowCopyBase? { nil }
  /// Restores the marked transient values from a copy.
  @_spi(Generated) open func _restoreTransients(_ properties: ColumnMask, from copy: RowCopyBase) {}

  // MARK: Hooks, overridden by generated classes if the model lists them

  @_spi(Generated) open func _didInsert() {}
  @_spi(Generated) open func _didFetch() {}
  @_spi(Generated) open func _willSave() throws {}
  @_spi(Generated) open func _didSave() {}
  @_spi(Generated) open func _willDelete() {}
  @_spi(Generated) open func _validateInsert(_ failures: inout HookFailures) {}
  @_spi(Generated) open func _validateUpdate(_ failures: inout HookFailures) {}
  @_spi(Generated) open func _validateDelete(_ failures: inout HookFailures) {}

  // MARK: Storing

  @_spi(Generated) public final var storedKey: Int64 { _key }
  @_spi(Generated) public final var storedVersion: Int64 { version }
  @_spi(Generated) public final func writeRow(to row: RowWriter) { writeColumns(of: .all, to: row) }
}

@available(*, unavailable, message: "objects belong to their context; pass the objectID or the snapshot instead")
extension ManagedObject: @unchecked Sendable {}

// MARK: - Access

extension ManagedObject {
  /// Called before a value is read. Loads the row if the object is a fault.
  @_spi(Generated) @inlinable @inline(__always) public final func _willRead(_ property: Int) {
    if !state.flags.isClear { _slowRead(property) }
  }

  /// Called before a value is written. A transient value is recorded like a stored one, so that it can be rolled back,
  /// but is not compared with a stored value, so that it is not a change to save.
  ///
  /// - Returns: whether to write. Writes to deleted and detached objects are ignored and reported.
  @_spi(Generated) @inlinable @inline(__always) public final func _willWrite(_ property: Int) -> Bool {
    if !state.flags.isClear || state.changed == 0 {
      guard _slowWrite(property) else { return false }
    }
    state.markAssigned(ColumnMask.bit(of: property))
    return true
  }

  /// Called by the initializers of classes with unique keys. Records an optional argument that was passed, because only
  /// assigned attributes are transferred to an existing object with the same unique key.
  @_spi(Generated) @inlinable @inline(__always) public final func _markAssigned(_ property: Int) {
    state.markAssigned(ColumnMask.bit(of: property))
  }

  @_spi(Generated) @inline(never) public final func _slowRead(_ property: Int) {
    if isProbed(reading: property) { return }
    if accessFlags.contains(.fault) { fulfilFault(property) }
    if accessFlags.contains(.fetched) { runDidFetch() }
    noteRead(property)
  }

  @_spi(Generated) @inline(never) public final func _slowWrite(_ property: Int) -> Bool {
    if accessFlags.contains(.fault) && link.graph != nil { fulfilFault(property) }
    if accessFlags.contains(.fetched) { runDidFetch() }
    guard !accessFlags.contains(.readOnly) else {
      reportIgnoredWrite(property)
      return false
    }
    // A fault that could not be loaded is not written to, because the placeholder would become the old value.
    if accessFlags.contains(.fault) { return false }
    if changedBits == 0 || accessFlags.contains(.unrecorded) { willChangeValues() }
    announce(property)
    return true
  }

  /// Called before the first change of a value since the last save and since the last recording of changes. Copies the
  /// row as it was, and registers the object as changed in the context.
  final func willChangeValues() {
    state.setUnrecorded(false)
    link.withGraph { graph in
      let recorded = graph.recorder?.recordValues(of: self)
      // A deleted object changes when a partner is assigned elsewhere. Its delete may be rolled back.
      guard changedBits == 0, phase == .persistent || phase == .deleted else { return }
      // The history and the object share one copy.
      if !hasCommittedRow { setCommitted(recorded ?? copyValues()) }
      graph.noteChanged(self)
    }
  }

  /// Whether a property is read only to learn its number, which is noted. Nothing is loaded for such a read.
  final func isProbed(reading property: Int) -> Bool {
    guard accessFlags.contains(.probed) else { return false }
    link.graph?.probed.append(property)
    return true
  }

  private final func fulfilFault(_ property: Int) {
    guard let graph = link.graph else {
      // Without a context, the values remain placeholders.
      state.endFault()
      return reportContextGone(property)
    }
    graph.reporting { try graph.fulfilFault(of: self) }
  }

  /// Whether a relationship can be changed. Loads the row if the object is a fault. Writes to deleted and detached
  /// objects are ignored and reported, as those to attributes are.
  final func isWritable(_ property: Int, in graph: ObjectGraph) -> Bool {
    graph.reporting { try graph.fulfilIfFault(self) }
    if isAlive { return !accessFlags.contains(.fault) }
    reportIgnoredWrite(property)
    return false
  }

  final func reportIgnoredWrite(_ property: Int) {
    guard let graph = link.graph else { return reportContextGone(property, isWrite: true) }
    let what = phase == .deleted ? "deleted" : "of no context any more"
    let entity = graph.runtime.info(type(of: self)._entity)
    let name = "\(entity.name).\(entity.entity.properties[property].name)"
    graph.report(
      ContextError(.ignoredWrite, "A value set to \(name) was ignored, since the object is \(what)."))
  }
}

extension ManagedObject {
  /// A copy of the stored and the transient values.
  final func copyValues() -> RowCopyBase {
    let copy = _copyRow()
    if let transients = _copyTransients() { copy.transients = transients }
    return copy
  }

  /// Makes the present stored values the committed ones. The committed transient values stay.
  final func commitRow() { commit(_copyRow()) }

  /// Makes a copy of stored values the committed ones. The committed transient values stay.
  ///
  /// - Parameter row: A copy that belongs to no other object and no history.
  final func commit(_ row: RowCopyBase) {
    row.transients = committedRow?.transients
    committedRow = row
  }

  /// Removes the marks of set properties and the committed values: there are no changes to roll back any more.
  final func forgetEdits() {
    state.didSave()
    committedRow = nil
  }

  /// Replaces references in the committed row of an edited object, which a rollback restores and edits are compared
  /// with. The present values stay.
  final func setCommittedReferences(_ references: [Relationship], to key: (Relationship) -> Int64) {
    guard let committed = committedRow else { return }
    let edited = _copyRow()
    _restore(.all, from: committed)
    for reference in references { _setReference(reference.property, key(reference)) }
    commitRow()
    _restore(.all, from: edited)
  }

  /// Restores the committed values of some properties.
  final func restoreCommitted(_ properties: ColumnMask) {
    announceAll()
    if let committedRow { restore(properties, from: committedRow) }
  }

  /// Restores stored and transient values from a copy of both.
  final func restore(_ properties: ColumnMask, from copy: RowCopyBase) {
    _restore(properties, from: copy)
    if let transients = copy.transients { _restoreTransients(properties, from: transients) }
  }

  /// The row before its first change; nil if nothing has changed.
  @_spi(Generated) public final var _committed: RowCopyBase? { committedRow }

  /// The values when last fetched or saved, those that one class of a hierarchy declares; nil for a new object.
  @_spi(Generated) public final func _committedRow<Row: StoredFields>() -> Row? {
    _willRead(-1)
    return phase == .inserted ? nil : (_committed ?? _copyRow()).part(Row.self)
  }
}

// MARK: - Public

extension ManagedObject {
  /// The graph that the object belongs to; nil if the object is detached or the context was deinitialized.
  final var attachedGraph: ObjectGraph? { phase == .detached ? nil : link.graph }

  /// Whether the object was created in this context and never saved.
  public final var isInserted: Bool { phase == .inserted }

  /// Whether the object was saved before and has changes that the next save will write.
  public final var isUpdated: Bool { phase == .persistent && hasChanges }

  /// Whether the object is deleted: with a pending delete, a saved one, or by another context. A new object that is
  /// deleted before its first save counts as deleted as well, although there is nothing to save.
  ///
  /// Objects that were detached from their context without a delete do not count as deleted: objects of an insert that
  /// was rolled back, and those of a context that was reset. They have no ``managedObjectContext``.
  ///
  /// In an observing context it supports Swift's Observation, so that a view of a deleted object can be taken away.
  public final var isDeleted: Bool {
    noteRead(ObservedProperty.life)
    return phase == .deleted || accessFlags.contains(.deleted)
  }

  /// Whether the object's values are not loaded yet. Reading a value loads them.
  public final var isFault: Bool { accessFlags.contains(.fault) }

  /// Whether the object has changes to save: it is inserted or deleted, a stored value differs from the last fetched or
  /// saved one, or the members of a to-many relationship changed.
  ///
  /// - Complexity: linear in the number of properties for an object with written values, otherwise constant.
  public final var hasChanges: Bool {
    switch phase {
    case .inserted, .deleted: true
    case .detached: false
    case .persistent: isEdited || hasChangedLists
    }
  }

  /// The names of the properties that differ from the last fetched or saved state. Empty for a new object.
  ///
  /// - Complexity: linear in the number of properties.
  public final var changedProperties: [String] {
    guard let graph = link.graph, phase == .persistent else { return [] }
    let info = graph.info(of: self)
    var numbers = changedNumbers
    for list in lists where list.hasChanges { numbers.append(list.property) }
    return numbers.sorted().map { info.entity.properties[$0].name }
  }
}

extension ManagedObject: Hashable {
  /// Objects are equal if they are the same instance: a context has one instance for each identifier.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the identity of the instance.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A protocol that gives each class its own type of identifier.
public protocol IdentifiedObject: ManagedObject {}

extension ManagedObject: IdentifiedObject {}

extension IdentifiedObject {
  /// The object's identifier.
  public var objectID: ObjectID<Self> { ObjectID(_key) }
}

// MARK: - Changes

extension ManagedObject {
  /// The properties that have another stored value than a copy, as the bits of a ``ColumnMask``.
  ///
  /// - Parameter properties: The properties that are compared.
  final func differences(from copy: RowCopyBase, among properties: UInt64, _ info: EntityInfo) -> UInt64 {
    var marked = properties & info.storedMask.bits
    var found: UInt64 = 0
    while marked != 0 {
      let property = marked.trailingZeroBitCount
      let bit = marked & (~marked &+ 1)
      marked &= ~bit
      let differs =
        property == 63
        ? !lateDifferences(from: copy, info).isEmpty : !_value(property).isSame(as: copy.value(property))
      if differs { found |= bit }
    }
    // A composite that may be nil changes as a whole, so that a merge keeps its fields together.
    for bits in info.groupBits where found & bits != 0 { found |= bits }
    return found
  }

  /// The numbers of the properties that share the last bit of a ``ColumnMask`` and have another stored value than a
  /// copy.
  final func lateDifferences(from copy: RowCopyBase, _ info: EntityInfo) -> [Int] {
    // A composite may begin before the last bit.
    let hasLateGroups = info.optionalGroups.contains { $0.fields.upperBound > 63 }
    let differing = info.entity.storedProperties.filter {
      ($0 >= 63 || hasLateGroups) && !_value($0).isSame(as: copy.value($0))
    }
    if !hasLateGroups { return differing }
    return info.wholeGroups(of: Set(differing)).filter { $0 >= 63 }.sorted()
  }

  /// The stored properties that differ from the committed row, as the bits of a ``ColumnMask``.
  final func changedProperties(_ info: EntityInfo) -> UInt64 {
    guard changedBits != 0, let committedRow else { return 0 }
    return differences(from: committedRow, among: changedBits, info)
  }

  /// The numbers of the stored properties that differ from the committed row.
  final var changedNumbers: [Int] {
    guard let committedRow, let graph = link.graph else { return [] }
    let info = graph.info(of: self)
    let bits = changedProperties(info)
    var numbers = (0..<63).filter { bits & ColumnMask.bit(of: $0) != 0 }
    if bits & ColumnMask.bit(of: 63) != 0 { numbers += lateDifferences(from: committedRow, info) }
    return numbers
  }

  /// Whether a stored value differs from the committed row.
  final var isEdited: Bool {
    guard changedBits != 0, let graph = link.graph else { return false }
    return changedProperties(graph.info(of: self)) != 0
  }
}

extension Entity {
  /// The numbers of the properties that are stored in the row.
  var storedProperties: [Int] {
    properties.filter { property in
      switch property {
      case .attribute(let attribute): attribute.column != nil
      case .relationship(let relationship): if case .column = relationship.home { true } else { false }
      }
    }.map(\.index)
  }
}

// MARK: - External

/// Support for properties with `externalStorage`.
extension ManagedObject {
  /// The bytes of external data. If they cannot be loaded, the failure is reported, as for a row, and the result is
  /// empty.
  @_spi(Generated) public final func _load(_ data: ExternalData, _ property: Int) -> Data {
    if accessFlags.contains(.probed) { return Data() }
    do {
      return try data.load()
    } catch {
      reportLoad(of: property, error)
      return Data()
    }
  }

  @_spi(Generated) public final func _load(_ data: ExternalData?, _ property: Int) -> Data? {
    guard let data, !accessFlags.contains(.probed) else { return nil }
    do {
      return try data.load()
    } catch {
      reportLoad(of: property, error)
      return nil
    }
  }

  private final func reportLoad(of property: Int, _ error: any Error) {
    guard let graph = link.graph else { return reportContextGone(property) }
    let entity = graph.runtime.info(type(of: self)._entity)
    let name = "\(entity.name).\(entity.entity.properties[property].name)"
    graph.report(ContextError(.loadFailed, "The data of \(name) could not be loaded.", cause: error))
  }
}

// MARK: - Observing

/// Objects of an observing context support Swift's Observation: code that reads their properties in
/// `withObservationTracking`, or in a SwiftUI view, is notified before they change.
extension ManagedObject: Observable {}

/// The observation of one context's objects, with a registrar for each object that was read.
final class ContextObservation {
  private var registrars: [Int64: ObservationRegistrar] = [:]
  private let externalChanges: ExternalChangeWatch?

  init(_ externalChanges: ExternalChangeWatch?) { self.externalChanges = externalChanges }

  func noteRead(of object: ManagedObject, _ property: Int) {
    let registrar = registrars[object._key] ?? ObservationRegistrar()
    registrars[object._key] = registrar
    registrar.access(object, keyPath: ObservedProperty.keyPath(property))
    // Property -1 stands for a snapshot, which reads all properties, and -2 for whether the object is deleted.
  }

  /// Notifies observers that a property is about to change.
  func announce(_ object: ManagedObject, _ property: Int) {
    guard let registrar = registrars[object._key] else { return }
    registrar.willSet(object, keyPath: ObservedProperty.keyPath(property))
    registrar.willSet(object, keyPath: ObservedProperty.keyPath(-1))
  }

  /// Notifies observers that every property of an object may change.
  func announceAll(_ object: ManagedObject, count: Int) {
    guard let registrar = registrars[object._key] else { return }
    for property in ObservedProperty.life..<count {
      registrar.willSet(object, keyPath: ObservedProperty.keyPath(property))
    }
  }

  /// Removes the registrars of objects that are no longer in memory.
  func forget(where isGone: (Int64) -> Bool) {
    registrars = registrars.filter { !isGone($0.key) }
  }
}

extension ObjectGraph {
  /// Makes the store be checked for the saves of other processes and containers while the watch is held, for observers
  /// that do not wait in a task.
  ///
  /// - Returns: nil if the context merges only when it is used.
  func watchForObservers() -> ExternalChangeWatch? { followsSaves ? core.externalChanges.watch() : nil }

  /// Whether the objects of the graph support Swift's Observation.
  var isObserving: Bool {
    get { observation != nil }
    set {
      guard newValue != isObserving else { return }
      observation = newValue ? ContextObservation(watchForObservers()) : nil
      map.forEach { object in
        object.state.setObserved(newValue)
      }
    }
  }
}

extension ManagedObject {
  /// Notifies observers that a property is about to change.
  @inline(__always) final func announce(_ property: Int) {
    if accessFlags.contains(.observed) { link.graph?.observation?.announce(self, property) }
  }

  /// Notifies observers that every property may change.
  @inline(__always) final func announceAll() {
    guard accessFlags.contains(.observed), let graph = link.graph else { return }
    graph.observation?.announceAll(self, count: graph.info(of: self).relationships.count)
  }

  final func noteRead(_ property: Int) {
    if accessFlags.contains(.observed) { link.graph?.observation?.noteRead(of: self, property) }
  }

  /// The property in the form of a key path, as Observation requires. The subscript is never read.
  fileprivate final subscript(observed property: Int) -> Int { property }
}

/// The key paths that represent properties by number. They are created once, because generated code has no key path
/// where it reads a property, and creating one for each read would be slow.
private enum ObservedProperty {
  // Sound because the key paths are never changed, and contain only a number.
  nonisolated(unsafe) private static let known: [KeyPath<ManagedObject, Int>] = (life..<128).map(make)

  /// Stands for whether the object is deleted.
  static let life = -2

  static func keyPath(_ property: Int) -> KeyPath<ManagedObject, Int> {
    known.indices.contains(property - life) ? known[property - life] : make(property)
  }

  private static func make(_ property: Int) -> KeyPath<ManagedObject, Int> { \ManagedObject[observed: property] }
}
