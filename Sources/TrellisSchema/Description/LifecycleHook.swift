/// A moment in an object's life at which a function of the program's own is called, if the model lists it.
public enum LifecycleHook: String, Hashable, Sendable, CaseIterable {
  /// The object was made; its initialiser is at its end.
  case didInsert
  /// The object's row was read; called before its values are first used after that.
  case didFetch
  /// The object is about to be inserted or updated. It may change values.
  case willSave
  /// The object was inserted or updated.
  case didSave
  /// The object is about to be deleted, by itself or by a cascade; its relationships are whole.
  case willDelete
  /// The object is checked before it is inserted.
  case validateInsert
  /// The object is checked before it is updated.
  case validateUpdate
  /// The object is checked before it is deleted from the store.
  case validateDelete
}
