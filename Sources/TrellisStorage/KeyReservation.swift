/// How keys are taken from a store.
package enum KeyReservation {
  /// How many keys a container takes when it opens a store: so many that inserting never has to ask the store, and 2³¹ openings
  /// fit into 63 bits.
  package static let size: Int64 = 1 << 32

  /// Why no more can be taken.
  package static func exhausted(_ store: String) -> StoreError {
    StoreError(.limit, "\(store) has no keys left.", remedy: "Copy the objects into a new store.")
  }
}
