import TrellisStorage

/// The row of an object that cannot be loaded: every attribute reads as its placeholder.
final class PlaceholderRow: RowReader {
  init(key: Int64, entity: Int = 0) {
    super.init()
    self.key = key
    self.entity = entity
  }
}

extension IdentifiedObject {
  /// Creates a detached object with placeholder values, for a row that cannot be loaded.
  ///
  /// - Parameter isDeleted: Whether the reason is that the row no longer exists.
  static func standIn(for key: Int64, isDeleted: Bool, in link: ContextLink) -> Self {
    let object = Self(PlaceholderRow(key: key), in: link)
    object.state.detach(isDeleted: isDeleted)
    return object
  }
}
