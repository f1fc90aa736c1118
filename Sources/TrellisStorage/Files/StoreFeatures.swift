import TrellisSchema

/// What a store's file uses beyond what the number of its format says, as words in three lists. So a program that meets a word which it
/// does not know can tell what it may do all the same, and a new feature need not lock older programs out.
package struct StoreFeatures: Hashable, Sendable {
  /// A program that does not know one of these may do everything.
  package var compatible: Set<String>
  /// A program that does not know one of these may read, and must not write.
  package var readOnlyCompatible: Set<String>
  /// A program that does not know one of these must leave the file alone.
  package var incompatible: Set<String>

  package init(
    compatible: Set<String> = [], readOnlyCompatible: Set<String> = [], incompatible: Set<String> = []
  ) {
    self.compatible = compatible
    self.readOnlyCompatible = readOnlyCompatible
    self.incompatible = incompatible
  }

  /// The file keeps the models that it had.
  package static let models = "models"
  /// What this version of Trellis knows.
  package static let known = StoreFeatures(compatible: [models])

  package var isEmpty: Bool { compatible.isEmpty && readOnlyCompatible.isEmpty && incompatible.isEmpty }

  // MARK: What may be done

  /// Why a file must not be opened; nil when it may.
  package func refusal(of name: String) -> StoreError? {
    let unknown = incompatible.subtracting(Self.known.incompatible)
    if unknown.isEmpty { return nil }
    return StoreError(
      .newerFormat, "\(name) uses what this version of Trellis does not know: \(Self.listed(unknown)).",
      remedy: "Update Trellis in this program.")
  }

  /// Why a file must not be written to; nil when it may.
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

  /// Whether words are such as a Trellis writes: letters from a to z, digits and hyphens.
  package static func areWords(_ words: some Collection<String>) -> Bool {
    words.count <= mostWords
      && words.allSatisfy { word in
        (1...longestWord).contains(word.utf8.count)
          && word.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D }
      }
  }
}

/// A model that a file has, or had before.
package struct StoredModel: Hashable, Sendable {
  package var checksum: String
  /// What its model file called its version.
  package var version: String?
  /// When the file got it, in microseconds since 1970; nil when that is not recorded.
  package var since: Int64?
  /// Its text, as `ModelDescription.canonicalJSON()` makes it. It comes from the file, so it may be anything.
  package var json: String

  package init(checksum: String, version: String?, since: Int64?, json: String) {
    self.checksum = checksum
    self.version = version
    self.since = since
    self.json = json
  }
}
