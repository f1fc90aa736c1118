package import TrellisSchema

/// Rows that are not as their objects remember them: somebody else changed or deleted them. Nothing was written.
///
/// The ways out are to save again with a merge policy, which says who wins; to refresh the objects, which keeps the edits on
/// top of the new values, and to save again; or to roll back.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
  /// One object whose row is another one by now.
  public struct Row: Hashable, Sendable {
    /// The number of the object's entity in the model.
    public var entity: Int
    /// The object's key.
    public var key: Int64
    /// The name of the entity; stores may leave it out, contexts fill it in.
    public var entityName: String?
    /// What both sides did to it; stores leave it out, contexts fill it in.
    public var kind: Kind?
    /// The names of the properties that both sides have set; empty when one side deleted the object.
    public var properties: [String] = []
    /// The values of the row by column, as it was read, as it is here and as it is in the store. Nil where there is none.
    package var original: [StoredValue]?
    package var mine: [StoredValue]?
    package var theirs: [StoredValue]?
    /// The classes of the entity and of those above it.
    package var lineage: [ObjectIdentifier] = []

    /// What both sides did to an object.
    public enum Kind: Hashable, Sendable {
      /// Both changed it.
      case changedByBoth
      /// It was changed here, and somebody else deleted it.
      case deletedByOthers
      /// It was deleted here, and somebody else changed it.
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
