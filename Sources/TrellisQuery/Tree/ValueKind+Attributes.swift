package import TrellisSchema

extension ValueKind {
  /// How values are compared that are kept so, and of which nothing more is known.
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
  /// In which order, and by which equality, the values of the attribute are compared.
  package var valueKind: ValueKind { type == .decimal ? .decimal : ValueKind(storageClass) }
}
