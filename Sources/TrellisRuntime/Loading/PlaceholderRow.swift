import TrellisStorage

/// A row that is not there: every attribute reads as its placeholder.
final class PlaceholderRow: RowReader {
  init(key: Int64, entity: Int = 0) {
    super.init()
    self.key = key
    self.entity = entity
  }
}
