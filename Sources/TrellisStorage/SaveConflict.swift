package import TrellisSchema

/// The rows that changed since their objects were read: another context or process changed or deleted them. Nothing was
/// written.
///
/// To resolve the conflict, save again with a merge policy, which decides which side wins; or refresh the objects,
/// which keeps the edits on top of the new values, and save again; or roll back.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
  /// An object with a changed row.
  public struct Row: Hashable, Sendable {
    /// The number of the object's entity in the model.
    public var entity: Int
    /// The object's key.
    public var key: Int64
    /// The name of the entity. Stores may leave it nil; contexts set it.
    public var entityName: String?
    /// The changes on both sides. Stores leave it nil; contexts set it.
    public var kind: Kind?
    /// The names of the properties that both sides set; empty if one side deleted the object.
    public var properties: [String] = []
    /// The values of the row by column: as it was read, as in this context, and as in the store. Nil if there is none.
    package var original: [StoredValue]?
    package var mine: [StoredValue]?
    package var theirs: [StoredValue]?
    /// The classes of the entity and its ancestors.
    package var lineage: [ObjectIdentifier] = []

    /// The changes of both sides to an object.
    public enum Kind: Hashable, Sendable {
      /// Both sides changed the object.
      case changedByBoth
      /// The object was changed in this context and deleted elsewhere.
      case deletedByOthers
      /// The object was deleted in this context and changed elsewhere.
      case deletedHere
    }

    public init(entity: Int, key: Int64, entityName: String? = nil) {
      self.entity = entity
      self.key = key
      self.entityName = entityName
    }
  }

  public var rows: [Row]

  public init(rows: [Row]) { self.rows = rows }

  public var description: String {
    let named = rows.prefix(10).map { "\($0.entityName ?? "entity \($0.entity)")#\($0.key)" }.joined(separator: ", ")
    let more = rows.count > 10 ? " and \(rows.count - 10) more" : ""
    let (were, since, them) =
      rows.count == 1 ? ("was", "it was read", "it") : ("were", "they were read", "them")
    return "\(named)\(more) \(were) changed or deleted by somebody else since \(since), so nothing was saved; "
      + "refresh \(them) and save again, or roll back. [save-conflict]"
  }
}
