/// The words of a document, and what it may not exceed.
enum DocumentFormat {
  /// The newest layout of a document that this version of Trellis knows.
  static let number: Int64 = 1
  /// Bytes of a document: a larger one is neither read nor written.
  static let maximumSize = 1 << 30
  /// Objects and lists inside each other.
  static let maximumDepth = 128

  /// Keys of the whole document.
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

  /// When a former model was replaced.
  static let replaced = "replaced"

  /// Keys of each object, beside its properties.
  static let key = "_key"
  static let rowVersion = "_version"

  /// Keys of data in a file.
  static let file = "file"
  static let size = "size"

  /// Keys of a pair.
  static let from = "from"
  static let to = "to"
  static let place = "place"
  static let inversePlace = "inversePlace"
}
