import TrellisStorage

/// The features that a document uses, and the models that it had before.
struct DocumentLineage: Sendable {
  /// A former model of the document.
  struct FormerModel: Sendable {
    var checksum: String
    var version: String?
    /// The time when the model was replaced, in microseconds since 1970. Nil if it is not recorded.
    var replaced: Int64?
    /// The model description, as it was written in the document.
    var description: [UInt8]
  }

  /// The features in the document when it was opened.
  var features = StoreFeatures()
  /// The former models, the newest last.
  var former: [FormerModel] = []

  /// The features to write.
  var writtenFeatures: StoreFeatures {
    var features = features
    if !former.isEmpty { features.compatible.insert(StoreFeatures.models) }
    return features
  }
}
