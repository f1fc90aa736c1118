public import TrellisModel
@_spi(Generated) public import TrellisStorage

extension ManagedObject {
  /// The value of a derived attribute, with unsaved changes. A failure to load what it is derived from is reported as
  /// that of any other property, and the result is the placeholder.
  @_spi(Generated) public final func _derived<Value: AttributeValue>(_ property: Int) -> Value {
    let reader = ValueReader()
    reader.show(key: _key, version: 0, entity: 0, values: [_derivedValue(property)])
    let value = Value.read(reader, 0)
    return reader.problem == nil ? value : .placeholder
  }

  /// The value of a derived attribute in its stored form, with unsaved changes; null for another property.
  @_spi(Generated) public final func _derivedValue(_ property: Int) -> StoredValue {
    guard let graph = link.graph, let derivation = graph.info(of: self).derivations[property] else { return .null }
    return graph.reporting { try derivation.value(of: QueriedObject(self, graph)) } ?? .null
  }
}
