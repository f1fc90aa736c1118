/// An event in the lifecycle of an object at which a function of the app is called, if the model lists it.
public enum LifecycleHook: String, Hashable, Sendable, CaseIterable {
  /// The object was created; called at the end of its initializer.
  case didInsert
  /// The object's row was read; called before the first access to its values after that.
  case didFetch
  /// The object is about to be inserted or updated. The hook may change values.
  case willSave
  /// The object was inserted or updated.
  case didSave
  /// The object is about to be deleted, directly or by a cascade. Its relationships are still intact.
  case willDelete
  /// Validates the object before it is inserted.
  case validateInsert
  /// Validates the object before it is updated.
  case validateUpdate
  /// Validates the object before it is deleted from the store.
  case validateDelete
}
