@_spi(Generated) public import TrellisRuntime

/// A change of one object that a replica asks for, of which a server's rights decide.
///
/// ```swift
/// let server = try SyncServer(office, rights: { access in
///   guard let note = (access.before ?? access.after) as? Note else { return false }
///   return note.owner.name == access.user
/// })
/// ```
/// What is asked about is what would change at the server, whatever the replica calls it: an object that a replica
/// inserts and that is united with one of the server by a unique key is an update of that one, and a delete is asked about
/// for each object that the delete rules take along.
public struct SyncAccess {
  /// What happens to an object.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The object is new.
    case insert
    /// Properties of the object are changed.
    case update
    /// The object is deleted.
    case delete
  }

  /// The user from whom the request comes; nil if the server's program names none.
  public let user: String?
  /// What happens to the object.
  public let kind: Kind
  /// The name of the object's entity.
  public let entity: String
  /// The object as it is at the server; nil if it is new.
  public let before: ManagedObject?
  /// The object with all changes of the replica's save, whose partners are reached from here as well; nil if it is
  /// deleted. It is not saved yet.
  public let after: ManagedObject?
  /// The names of the properties that are changed. A pair of two to-many relationships is a change at both ends, any
  /// other pair one of the end that refers to the other, and an order one of the list's owner. Empty for a delete.
  public let properties: Set<String>
  /// A context with the server's objects as they are, for questions about other objects.
  public let context: ManagedObjectContext
}
