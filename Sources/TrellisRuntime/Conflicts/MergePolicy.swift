/// Who wins when a save finds that somebody else has written the same objects since they were read.
///
/// Each property is compared three ways: as it was read, as it is here, as it is in the store. What only one side has changed
/// is no conflict and is merged, except under ``overwrite`` and ``rollback``, which take one side's object as a whole. Members
/// that came to to-manys or left them are always merged. What is merged is checked by the model's rules before it is written.
///
/// ```swift
/// context.mergePolicy = .objectTrump            // for every save of the context
/// try context.save(mergePolicy: .storeTrump)    // for one
/// ```
public enum MergePolicy: Hashable, Sendable, CaseIterable {
  /// Nobody: the save throws ``SaveConflict`` with all three values of each property.
  case error
  /// The values set here, property by property. What others deleted and is changed here still throws.
  case objectTrump
  /// The values in the store, property by property. What others deleted is deleted here, what they changed is not deleted.
  case storeTrump
  /// The object as it is here, including properties that only others have changed.
  case overwrite
  /// The object as it is in the store: everything that was done to it here is given up.
  case rollback
}
