import TrellisStorage

/// What a document says of itself beside its model: the features it uses, and the models that it had before.
struct DocumentLineage: Sendable {
  /// A model that the document had before the one it has.
  struct FormerModel: Sendable {
    var checksum: String
    var version: String?
    /// When it was replaced, in microseconds since 1970; nil when that is not recorded.
    var replaced: Int64?
    /// Its description, as it stood in the document.
    var description: [UInt8]
  }

  /// What the document said when it was opened.
  var features = StoreFeatures()
  /// The latest last.
  var former: [FormerModel] = []

  /// What it says when it is written.
  var writtenFeatures: StoreFeatures {
    var features = features
    if !former.isEmpty { features.compatible.insert(StoreFeatures.models) }
    return features
  }
}
