/// The reservation of object keys in a store.
package enum KeyReservation {
  /// The number of keys that a container reserves when it opens a store. An insert never has to access the store, and
  /// 2³¹ openings fit into 63 bits.
  package static let size: Int64 = 1 << 32

  /// The error when no keys are left.
  package static func exhausted(_ store: String) -> StoreError {
    StoreError(.limit, "\(store) has no keys left.", remedy: "Copy the objects into a new store.")
  }
}
