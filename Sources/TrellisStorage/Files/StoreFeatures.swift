import TrellisSchema

/// The features that a store's file uses beyond its format version, as words in three lists. An older version of
/// Trellis can tell from the list what it may do with an unknown feature, so a new feature need not lock it out.
package struct StoreFeatures: Hashable, Sendable {
  /// Features that do not restrict a version that does not know them.
  package var compatible: Set<String>
  /// Features that allow a version that does not know them to read but not to write.
  package var readOnlyCompatible: Set<String>
  /// Features that forbid a version that does not know them to open the file.
  package var incompatible: Set<String>

  package init(
    compatible: Set<String> = [], readOnlyCompatible: Set<String> = [], incompatible: Set<String> = []
  ) {
    self.compatible = compatible
    self.readOnlyCompatible = readOnlyCompatible
    self.incompatible = incompatible
  }

  /// The file stores the models that it had.
  package static let models = "models"
  /// The features that this version of Trellis knows.
  package static let known = StoreFeatures(compatible: [models])

  package var isEmpty: Bool { compatible.isEmpty && readOnlyCompatible.isEmpty && incompatible.isEmpty }

  // MARK: Permissions

  /// The error that forbids opening the file; nil if it may be opened.
  package func refusal(of name: String) -> StoreError? {
    let unknown = incompatible.subtracting(Self.known.incompatible)
    if unknown.isEmpty { return nil }
    return StoreError(
      .newerFormat, "\(name) uses what this version of Trellis does not know: \(Self.listed(unknown)).",
      remedy: "Update Trellis in this program.")
  }

  /// The error that forbids writing to the file; nil if writing is allowed.
  package func refusalOfWrites(to name: String) -> StoreError? {
    let unknown = readOnlyCompatible.subtracting(Self.known.readOnlyCompatible)
    if unknown.isEmpty { return nil }
    return StoreError(
      .readOnly,
      "\(name) uses what this version of Trellis does not know, so it is only read: \(Self.listed(unknown)).",
      remedy: "Update Trellis in this program.")
  }

  private static func listed(_ words: Set<String>) -> String { words.sorted().prefix(8).joined(separator: ", ") }

  // MARK: Words

  private static let mostWords = 256
  private static let longestWord = 64

  /// Whether words are valid feature names: letters from a to z, digits and hyphens.
  package static func areWords(_ words: some Collection<String>) -> Bool {
    words.count <= mostWords
      && words.allSatisfy { word in
        (1...longestWord).contains(word.utf8.count)
          && word.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D }
      }
  }
}

/// A model that a file has or had.
package struct StoredModel: Hashable, Sendable {
  package var checksum: String
  /// The version given in its model file.
  package var version: String?
  /// The time of the change to this model, in microseconds since 1970; nil if it is not recorded.
  package var since: Int64?
  /// The text of the model, as from `ModelDescription.canonicalJSON()`. It comes from the file, so its content is
  /// untrusted.
  package var json: String

  package init(checksum: String, version: String?, since: Int64?, json: String) {
    self.checksum = checksum
    self.version = version
    self.since = since
    self.json = json
  }
}
