/// Rows that are not as their objects remember them: somebody else changed or deleted them. Nothing was written.
///
/// The way out is to refresh the objects, which keeps the edits on top of the new values, and to save again; or to roll back.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
  /// One object whose row is another one by now.
  public struct Row: Hashable, Sendable {
    /// The number of the object's entity in the model.
    public var entity: Int
    /// The object's key.
    public var key: Int64
    /// The name of the entity; stores may leave it out, contexts fill it in.
    public var entityName: String?

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
