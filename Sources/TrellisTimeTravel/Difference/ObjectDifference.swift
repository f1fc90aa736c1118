public import TrellisModel
public import TrellisRuntime
@_spi(Generated) public import TrellisStorage

/// What differs of an object between two moments.
public struct ObjectDifference: Hashable, Sendable {
  /// What happened to the object between the moments.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// It is there at the later moment only.
    case inserted
    /// It is there at both moments.
    case updated
    /// It is there at the earlier moment only.
    case deleted
  }

  /// The content of a property.
  public enum Content: Hashable, Sendable {
    /// The value of an attribute in its stored form.
    case value(StoredValue)
    /// The partners in a relationship, in their order; one at most of a to-one. They are named after the destination.
    case objects([AnyObjectID])
  }

  /// A property whose content differs.
  public struct PropertyDifference: Hashable, Sendable {
    /// The name of the property.
    public let name: String
    /// The content at the earlier moment; nil if the object was not there, or the model keeps no values of the entity.
    public let former: Content?
    /// The content at the later moment; nil if the object is not there, or the model keeps no values of the entity.
    public let latter: Content?
  }

  /// The identifier of the object.
  public let id: AnyObjectID
  /// What happened to the object.
  public let kind: Kind
  /// The properties that differ. Those of an inserted or deleted object are those that are not empty.
  public let properties: [PropertyDifference]
}

extension ObjectDifference: CustomStringConvertible {
  /// What happened to which object, without the values: `updated Note#3: title, text`.
  public var description: String {
    let names = kind == .updated ? ": " + properties.map(\.name).joined(separator: ", ") : ""
    return "\(kind.rawValue) \(id)\(names)"
  }
}

extension ObjectDifference.PropertyDifference: CustomStringConvertible {
  /// The name of the property.
  public var description: String { name }
}

extension ObjectDifference.Content {
  /// The value of an attribute; nil if it is nil or has another type, and for partners.
  ///
  /// ```swift
  /// let title = property.former?.value(as: String.self)
  /// ```
  public func value<Value: AttributeValue>(as type: Value.Type) -> Value? {
    guard case .value(let value) = self, !value.isNull else { return nil }
    let reader = ValueReader()
    reader.show(key: 0, version: 0, entity: 0, values: [value])
    let found = Value.read(reader, 0)
    return reader.problem == nil ? found : nil
  }

  /// Whether it is nil, or no partner.
  package var isEmpty: Bool {
    switch self {
    case .value(let value): value.isNull
    case .objects(let objects): objects.isEmpty
    }
  }

  fileprivate func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.value(let value), .value(let second)): value.isSame(as: second)
    case (.objects(let objects), .objects(let second)): objects == second
    default: false
    }
  }
}

/// Compares objects of two moments.
struct MomentComparison {
  let before: MomentView
  let after: MomentView

  /// - Returns: nil if the object is the same at both moments, or at neither.
  func difference(_ key: Int64, of entity: Int) throws -> ObjectDifference? {
    let former = try before.object(key, of: entity)
    let latter = try after.object(key, of: entity)
    guard let shown = latter ?? former else { return nil }
    let view = latter == nil ? before : after
    var properties: [ObjectDifference.PropertyDifference] = []
    for property in view.entity(of: shown).properties {
      let old = try former.flatMap { try before.content(of: property, $0) }
      let new = try latter.flatMap { try after.content(of: property, $0) }
      let isSame = if let old, let new { old.isSame(as: new) } else { old?.isEmpty ?? new?.isEmpty ?? true }
      if !isSame {
        properties.append(ObjectDifference.PropertyDifference(name: property.name, former: old, latter: new))
      }
    }
    let kind: ObjectDifference.Kind = former == nil ? .inserted : latter == nil ? .deleted : .updated
    if kind == .updated && properties.isEmpty { return nil }
    return ObjectDifference(id: AnyObjectID(shown), kind: kind, properties: properties)
  }
}

extension MomentView {
  /// The content of a property; nil if the store does not keep it at the object's end.
  fileprivate func content(of property: Property, _ object: ManagedObject) throws -> ObjectDifference.Content? {
    switch property {
    case .attribute(let attribute):
      return attribute.isStored ? .value(try value(of: attribute, object)) : nil
    case .relationship(let relationship):
      guard relationship.isStored else { return nil }
      let keys = try partners(of: object, relationship)
      return .objects(
        (relationship.isOrdered ? keys : keys.sorted()).map {
          AnyObjectID($0, entity: relationship.destination, in: context)
        })
    }
  }
}
