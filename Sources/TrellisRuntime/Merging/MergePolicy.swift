/// How a save settles conflicts with other contexts that have written the same objects since they were read.
///
/// Each property is compared three ways: as it was read, as it is in this context, and as it is in the store. A
/// property that only one side has changed is no conflict and is merged, except under ``overwrite`` and ``rollback``,
/// which take one side's object as a whole. Members that were added to to-many relationships or removed from them are
/// always merged. The merged objects are checked against the model's rules before they are written.
///
/// ```swift
/// context.mergePolicy = .objectTrump            // for every save of the context
/// try context.save(mergePolicy: .storeTrump)    // for one
/// ```
public enum MergePolicy: Hashable, Sendable, CaseIterable {
  /// Neither side wins: the save throws ``SaveConflict`` with all three values of each property.
  case error
  /// The values of this context win, property by property. A change of an object that another context has deleted still
  /// throws.
  case objectTrump
  /// The values in the store win, property by property. An object that another context has deleted is deleted here, and
  /// an object that another context has changed is not deleted.
  case storeTrump
  /// The object of this context wins as a whole, including properties that only other contexts have changed.
  case overwrite
  /// The object in the store wins as a whole: all changes of the object in this context are discarded.
  case rollback
}

extension MergePolicy {
  /// Whether this context wins where both sides have changed a property.
  package var contextWins: Bool {
    switch self {
    case .objectTrump, .overwrite: true
    case .storeTrump, .rollback, .error: false
    }
  }

  /// Whether the store wins where both sides have changed a property.
  package var storeWins: Bool {
    switch self {
    case .storeTrump, .rollback: true
    case .objectTrump, .overwrite, .error: false
    }
  }

  /// Whether the winner's object replaces the other one, including what only the other side has changed.
  package var isWhole: Bool {
    switch self {
    case .overwrite, .rollback: true
    case .objectTrump, .storeTrump, .error: false
    }
  }
}
