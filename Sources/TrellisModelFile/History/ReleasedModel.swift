package import TrellisModel

/// One released version of a model, as a file of its history holds it.
///
/// ```json
/// {
///   "trellis-history": 1,
///   "number": 3,
///   "released": "2026-03-02",
///   "checksum": "9f2c4be1d07a6635",
///   "model": { … }
/// }
/// ```
///
/// The model is its canonical text, indented by one level. So two versions differ in the lines of what has changed, and
/// the checksum is that of a store with this model.
package struct ReleasedModel: Hashable, Sendable {
  /// The versions of a model are numbered from 1.
  package let number: Int
  /// The day as `2026-03-02`.
  package let released: String
  package let checksum: String
  /// The canonical text of the model, as the version of Trellis that released it has written it.
  package let canonicalText: String

  package init(_ description: ModelDescription, number: Int, released: String) {
    self.init(
      number: number, released: released, checksum: description.checksum, canonicalText: description.canonicalJSON())
  }

  init(number: Int, released: String, checksum: String, canonicalText: String) {
    self.number = number
    self.released = released
    self.checksum = checksum
    self.canonicalText = canonicalText
  }

  /// The model.
  ///
  /// - Throws: ``StoredModelFault`` if a newer version of Trellis has released it and this one cannot read it.
  package func description() throws(StoredModelFault) -> ModelDescription {
    try ModelDescription(storedText: Array(canonicalText.utf8))
  }

  /// The content of the file.
  package var fileText: String {
    let lines = canonicalText.split(separator: "\n").joined(separator: "\n" + Self.margin)
    return """
      {
        "\(Key.format)": \(Self.format),
        "\(Key.number)": \(number),
        "\(Key.released)": "\(released)",
        "\(Key.checksum)": "\(checksum)",
        "\(Key.model)": \(lines)
      }

      """
  }

  /// The number of the file format.
  static let format = 1
  /// The indentation of the model in the file.
  static let margin = "  "

  /// The keys of the file, in their order.
  enum Key {
    static let format = "trellis-history"
    static let number = "number"
    static let released = "released"
    static let checksum = "checksum"
    static let model = "model"
    static let all = [format, number, released, checksum, model]
  }
}
