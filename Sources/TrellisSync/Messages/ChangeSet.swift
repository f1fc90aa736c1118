public import TrellisModel

/// What one save of a replica has changed, with the values.
///
/// Entities and properties have the numbers of the model that both sides have.
public struct ChangeSet: Hashable, Sendable {
  /// The change of one object's row.
  public struct ObjectChange: Hashable, Sendable {
    /// What happened to the object.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
      /// The object is new.
      case inserted
      /// Values of the object were set.
      case updated
      /// The object is deleted.
      case deleted
    }

    /// The new value of an attribute, or the key of a partner that the row refers to.
    public struct Value: Hashable, Sendable {
      /// The number of the property.
      public var property: Int
      /// The value after the save.
      public var value: StoredValue
      /// The value before the save; null for new objects.
      public var former: StoredValue
    }

    /// The key of the object, which is the same on the server and on all replicas.
    public var key: Int64
    /// The number of the object's entity in the model.
    public var entity: Int
    /// Whether the object was inserted, updated or deleted.
    public var kind: Kind
    /// The values that were set; all of a new object, none of a deleted one.
    public var values: [Value]
  }

  /// A pair of a relationship that no row stores.
  public struct PairChange: Hashable, Sendable {
    /// The number of the entity that declares the relationship.
    public var entity: Int
    /// The number of the relationship in its entity.
    public var property: Int
    /// The key of the object at the end that declares the relationship.
    public var owner: Int64
    /// The key of the object at the other end.
    public var member: Int64
    /// Whether the pair was added; false if it was removed.
    public var isAdded: Bool
  }

  /// The members of an ordered relationship after the save, in their order.
  public struct OrderChange: Hashable, Sendable {
    /// The number of the entity that declares the relationship.
    public var entity: Int
    /// The number of the relationship in its entity.
    public var property: Int
    /// The key of the object whose members these are.
    public var owner: Int64
    /// The keys of the members.
    public var members: [Int64]
  }

  /// The number of the change set among those of its replica, from 1.
  public internal(set) var sequence: Int64
  /// A random number, which tells apart change sets of two copies of a replica.
  public internal(set) var id: UInt64
  /// The server's moment that the replica knew when it saved; empty for none.
  public internal(set) var base: String
  /// The time of the save in microseconds since 1970, by the replica's clock.
  public internal(set) var time: Int64
  /// The author of the save; nil if it had none.
  public internal(set) var author: String?
  /// The changes of rows.
  public internal(set) var objects: [ObjectChange] = []
  /// The pairs that were added and removed.
  public internal(set) var pairs: [PairChange] = []
  /// The lists whose order has changed.
  public internal(set) var orders: [OrderChange] = []

  var isEmpty: Bool { objects.isEmpty && pairs.isEmpty && orders.isEmpty }

  /// The keys of all objects whose rows or lists the save has changed.
  var keys: Set<Int64> {
    var keys = Set(objects.map(\.key))
    for pair in pairs { keys.formUnion([pair.owner, pair.member]) }
    for order in orders { keys.insert(order.owner) }
    return keys
  }

  /// About the number of bytes in messages, those of contents included.
  var size: Int {
    objects.reduce(0) { sum, object in
      object.values.reduce(sum + 8) { sum, value in
        if case .file = value.former { return sum + value.value.size + 80 }
        return sum + value.value.size + value.former.size
      }
    } + pairs.count * 12 + orders.reduce(0) { $0 + 8 + $1.members.count * 6 }
  }

  /// The same changes with other keys for some objects.
  func translated(by keys: [Int64: Int64], in model: Model) -> ChangeSet {
    if keys.isEmpty { return self }
    func key(_ key: Int64) -> Int64 { keys.survivor(of: key) }
    var copy = self
    copy.objects = objects.map { object in
      var object = object
      object.key = key(object.key)
      object.values = object.values.map { value in
        guard model.relationship(object.entity, value.property) != nil else { return value }
        var value = value
        if case .integer(let partner) = value.value { value.value = .integer(key(partner)) }
        if case .integer(let partner) = value.former { value.former = .integer(key(partner)) }
        return value
      }
      return object
    }
    copy.pairs = pairs.map { pair in
      var pair = pair
      (pair.owner, pair.member) = (key(pair.owner), key(pair.member))
      return pair
    }
    copy.orders = orders.map { order in
      var order = order
      order.owner = key(order.owner)
      order.members = order.members.map(key)
      return order
    }
    return copy
  }
}

extension [Int64: Int64] {
  /// The key that an object has after all unions; the key itself for other objects. A ring, which only a damaged note
  /// has, ends after 64 steps.
  func survivor(of key: Int64) -> Int64 {
    var key = key
    var steps = 0
    while let next = self[key], steps < 64 { (key, steps) = (next, steps + 1) }
    return key
  }
}

extension Model {
  /// The relationship with a number; nil for an attribute and for a number that there is not.
  func relationship(_ entity: Int, _ property: Int) -> Relationship? { self.property(entity, property)?.relationship }

  func property(_ entity: Int, _ property: Int) -> Property? {
    guard entities.indices.contains(entity), entities[entity].properties.indices.contains(property) else { return nil }
    return entities[entity].properties[property]
  }
}

// MARK: - Bytes

extension ChangeSet {
  /// The change sets of a content.
  static func list(_ bytes: [UInt8]) throws(SyncError) -> [ChangeSet] {
    var reader = ByteReader(bytes)
    let sets = try reader.list { reader throws(SyncError) in try ChangeSet(&reader) }
    try reader.end()
    return sets
  }

  func write(to writer: inout ByteWriter) {
    writer.signed(sequence)
    writer.number(id)
    writer.text(base)
    writer.signed(time)
    writer.optional(author)
    writer.list(objects) { writer, object in
      writer.signed(object.key)
      writer.count(object.entity)
      writer.byte(object.kind.rawValue)
      writer.list(object.values) { writer, value in
        writer.count(value.property)
        writer.value(value.value)
        writer.value(value.former)
      }
    }
    writer.list(pairs) { writer, pair in
      writer.count(pair.entity)
      writer.count(pair.property)
      writer.signed(pair.owner)
      writer.signed(pair.member)
      writer.byte(pair.isAdded ? 1 : 0)
    }
    writer.list(orders) { writer, order in
      writer.count(order.entity)
      writer.count(order.property)
      writer.signed(order.owner)
      writer.list(order.members) { $0.signed($1) }
    }
  }

  init(_ reader: inout ByteReader) throws(SyncError) {
    sequence = try reader.signed()
    id = try reader.number()
    base = try reader.text()
    time = try reader.signed()
    author = try reader.optionalText()
    objects = try reader.list { reader throws(SyncError) in
      let key = try reader.signed()
      let entity = try reader.index()
      guard let kind = ObjectChange.Kind(rawValue: try reader.byte()) else { throw .damagedMessage }
      let values = try reader.list { reader throws(SyncError) in
        ObjectChange.Value(property: try reader.index(), value: try reader.value(), former: try reader.value())
      }
      return ObjectChange(key: key, entity: entity, kind: kind, values: values)
    }
    pairs = try reader.list { reader throws(SyncError) in
      PairChange(
        entity: try reader.index(), property: try reader.index(), owner: try reader.signed(),
        member: try reader.signed(), isAdded: try reader.flag())
    }
    orders = try reader.list { reader throws(SyncError) in
      OrderChange(
        entity: try reader.index(), property: try reader.index(), owner: try reader.signed(),
        members: try reader.list { reader throws(SyncError) in try reader.signed() })
    }
  }
}
