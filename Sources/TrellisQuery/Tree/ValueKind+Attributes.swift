package import TrellisSchema

extension ValueKind {
  /// The kind of values with a storage class, if nothing else is known about them.
  package init(_ storageClass: StorageClass) {
    self =
      switch storageClass {
      case .integer: .integer
      case .real: .real
      case .text: .text
      case .blob: .blob
      }
  }
}

extension Attribute {
  /// The order and equality of the attribute's values.
  package var valueKind: ValueKind { type == .decimal ? .decimal : ValueKind(storageClass) }
}
