extension IdentifiedObject {
  /// The numbers of the properties that a key path reads: one number for a property of the model, several for a
  /// property that is computed from others.
  ///
  /// The property is read while the object records its reads, so that generated code need not list its properties
  /// again.
  func numbers<Value>(of path: KeyPath<Self, Value>) -> [Int] {
    guard let context = link.context else { return [] }
    _willRead(-1)
    context.probed.removeAll()
    state.setProbed(true)
    let value = self[keyPath: path]
    state.setProbed(false)
    if let view = value as? any ToManyView, let property = view.property(of: self) { context.probed.append(property) }
    defer { context.probed.removeAll() }
    return context.probed.filter { $0 >= 0 }
  }
}

extension ToManyView {
  /// The property's number if this is the relationship of an object; nil otherwise.
  fileprivate func property(of object: ManagedObject) -> Int? {
    if case .relationship(object, let property) = _storage { property } else { nil }
  }
}
