import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

extension MomentView {
  /// The stored content of a property of an object's own row: the value of an attribute, or the key of a partner; nil for
  /// anything else. Data in a file is not read.
  func rowValue(of property: Property, _ object: ManagedObject) throws -> StoredValue? {
    switch property {
    case .attribute(let attribute):
      return attribute.isStored ? try value(of: attribute, object) : nil
    case .relationship(let relationship):
      guard relationship.home.isColumn else { return nil }
      return try partners(of: object, relationship).first.map { .integer($0) } ?? .null
    }
  }

  /// The object with a key from a message; nil if there is none.
  ///
  /// - Throws: ``SyncError`` with the code `refusedMessage` if the object is not of the entity or one below it;
  ///   ``StoreError``.
  func object(_ key: Int64, kindOf entity: Int) throws -> ManagedObject? {
    guard let object = try object(key, of: entity) else { return nil }
    guard context.model.entities[entity].subtree.contains(self.entity(of: object).index) else {
      throw SyncError.refused("an object has another entity")
    }
    return object
  }

  /// The objects with some keys, whatever their entities.
  func objects(_ keys: some Collection<Int64>) throws -> [Int64: ManagedObject] {
    var found: [Int64: ManagedObject] = [:]
    for root in Set(context.model.roots).sorted() {
      let rest = keys.filter { found[$0] == nil && $0 > 0 }
      if rest.isEmpty { break }
      for (key, object) in try context.objects(rest, entity: root) where !object.isDeleted {
        found[key] = object
        add(object)
      }
    }
    return found
  }
}

/// A pair of a join table, the same from both ends.
struct PairName: Hashable {
  let entity: Int
  let property: Int
  let owner: Int64
  let member: Int64

  init(_ relationship: Relationship, _ owner: Int64, _ member: Int64, in model: Model) {
    var (relationship, owner, member) = (relationship, owner, member)
    if case .joinTable(_, isFirst: false) = relationship.home, let inverse = model.inverse(of: relationship) {
      (relationship, owner, member) = (inverse, member, owner)
    }
    if relationship.isOwnInverse && owner > member { (owner, member) = (member, owner) }
    (entity, property) = (relationship.entity, relationship.index)
    (self.owner, self.member) = (owner, member)
  }

  func change(isAdded: Bool) -> ChangeSet.PairChange {
    ChangeSet.PairChange(entity: entity, property: property, owner: owner, member: member, isAdded: isAdded)
  }
}

/// A list whose members have an order.
struct ListName: Hashable {
  let entity: Int
  let property: Int
  let owner: Int64

  init(_ relationship: Relationship, _ owner: Int64) {
    (entity, property, self.owner) = (relationship.entity, relationship.index, owner)
  }
}

extension ChangeSet.OrderChange {
  var name: ListName { ListName(self) }
}

extension ListName {
  init(_ order: ChangeSet.OrderChange) { (entity, property, owner) = (order.entity, order.property, order.owner) }
}

extension ChangeSet.PairChange {
  func name(in model: Model) -> PairName? {
    model.relationship(entity, property).map { PairName($0, owner, member, in: model) }
  }
}

extension StoreRequest {
  /// All objects of an entity and its subentities.
  static func all(_ entity: Int) -> StoreRequest { StoreRequest(entity: entity) }

  /// The objects of an entity and its subentities whose keys are in a range, by key.
  static func all(
    _ entity: Int, after key: Int64, through last: Int64 = .max, atMost limit: Int? = nil
  ) -> StoreRequest {
    let path = Operand.path(PropertyPath(variable: 0))
    var terms: [QueryPredicate] = []
    if key > 0 { terms.append(.comparison(Comparison(path, .greater, .value(.integer(key)), kind: .integer))) }
    if last < .max { terms.append(.comparison(Comparison(path, .lessOrEqual, .value(.integer(last)), kind: .integer))) }
    return StoreRequest(entity: entity, predicate: terms.isEmpty ? nil : .and(terms), limit: limit)
  }
}

extension Property {
  /// Whether an object's own row keeps the property as something that can be set.
  var isOfRow: Bool {
    switch self {
    case .attribute(let attribute): attribute.isStored
    case .relationship(let relationship): relationship.home.isColumn
    }
  }
}

extension PersistentContainer {
  /// The transaction of a token; nil if the history does not have it any more.
  func keptTransaction(_ token: HistoryToken) throws -> HistoryTransaction? {
    do {
      return try transaction(token.transaction)
    } catch let error as StoreError where error.code == .historyExpired {
      // None is kept before it.
      return try history(limit: 1).first { $0.token.transaction == token.transaction }
    }
  }

  /// - Throws: ``SyncError`` with the code `noHistory`.
  func checkForSync() throws {
    let keepsValues = model.entities.allSatisfy { model.history(of: $0.index) == .values }
    guard keepsValues, try notes(beginningWith: StoreNote.ofReplica) != nil else { throw SyncError.noHistory }
  }
}

extension HistoryTransaction {
  /// Whether an incomplete transaction is that of a migration: it lists nothing, and is the first one with its model. Writes
  /// of other programs are not, since they come behind a transaction with the same model.
  func isOfMigration(after previous: HistoryTransaction?) -> Bool {
    changes.isEmpty && previous.map { $0.modelMatch?.stored.checksum != modelMatch?.stored.checksum } == true
  }
}
