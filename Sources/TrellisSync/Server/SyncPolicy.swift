public import TrellisModel

/// What a server decides if a replica has changed a property that was changed at the server meanwhile.
///
/// A name in the policy counts before the words of the model, `"sync": { "conflict": "sum" }`, and these before
/// ``usual``.
public struct SyncPolicy: Sendable {
  /// The decision about one property.
  public typealias Decision = SyncDecision

  /// The decision about properties of which neither the policy nor the model says more.
  public var usual: Decision
  private var decisions: [String: Decision] = [:]

  /// Creates a policy.
  ///
  /// ```swift
  /// var policy = SyncPolicy()
  /// policy["Account.balance"] = .sum
  /// ```
  public init(_ usual: Decision = .latest) { self.usual = usual }

  /// The decision about a property, `Entity.property`, or about all properties of an entity, `Entity`.
  public subscript(name: String) -> Decision? {
    get { decisions[name] }
    set { decisions[name] = newValue }
  }

  func decision(_ entity: Int, _ property: Property, in model: Model) -> Decision {
    let lineage = model.lineage(of: entity)
    for number in lineage {
      let name = model.name(ofEntity: number)
      if let found = decisions["\(name).\(property.name)"] ?? decisions[name] { return found }
    }
    return property.sync(in: model) ?? lineage.lazy.compactMap { model.description.entities[$0].sync }.first ?? usual
  }
}

extension Property {
  /// What the model says of the property itself; of a one-to-one at either end.
  fileprivate func sync(in model: Model) -> SyncDecision? {
    switch self {
    case .attribute(let attribute): return attribute.description.sync
    case .relationship(let relationship):
      if let own = relationship.description.sync { return own }
      return model.inverse(of: relationship).flatMap { $0.isToMany ? nil : $0.description.sync }
    }
  }
}
