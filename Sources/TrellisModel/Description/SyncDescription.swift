/// What a server decides if a replica has changed a property that was changed at the server meanwhile.
///
/// In a model file it is `"sync": { "conflict": "sum" }`, at a property or an entity.
public enum SyncDecision: String, Hashable, Sendable, CaseIterable {
  /// The later change wins. The times are those of the changes, corrected by the difference of the clocks.
  case latest
  /// The server's value stays.
  case server
  /// The replica's value wins.
  case replica
  /// Both changes of a number count: the replica's difference is added. Any other value is decided as `latest`.
  case sum
}

extension AttributeType {
  /// Whether values are numbers, which can be added.
  package var hasSum: Bool {
    switch self {
    case .integer, .float, .double, .decimal: true
    default: false
    }
  }
}
