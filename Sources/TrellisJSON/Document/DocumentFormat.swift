/// The keys of a document, and its limits.
enum DocumentFormat {
  /// The newest document format that this version of Trellis supports.
  static let number: Int64 = 1
  /// The maximum number of bytes of a document, for reading and writing.
  static let maximumSize = 1 << 30
  /// The maximum nesting depth of objects and lists.
  static let maximumDepth = 128

  /// Keys of the document.
  static let format = "trellis"
  static let model = "model"
  static let version = "version"
  static let checksum = "checksum"
  static let nextKey = "nextKey"
  static let storage = "storage"
  static let entities = "entities"
  static let pairs = "pairs"
  static let description = "description"
  static let features = "features"
  static let models = "models"

  /// Keys of the features.
  static let compatible = "compatible"
  static let readOnlyCompatible = "readOnlyCompatible"
  static let incompatible = "incompatible"

  /// The time when a former model was replaced.
  static let replaced = "replaced"

  /// Keys of each object, in addition to its properties.
  static let key = "_key"
  static let rowVersion = "_version"

  /// Keys of external data.
  static let file = "file"
  static let size = "size"

  /// Keys of a join table pair.
  static let from = "from"
  static let to = "to"
  static let place = "place"
  static let inversePlace = "inversePlace"
}
