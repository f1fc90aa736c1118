package import TrellisModel

/// Reads the model that a store carries.
package enum StoredModelReading {
  /// - Parameters:
  ///   - text: the model's canonical text, as it is in the store. It may come from anywhere.
  ///   - checksum: the checksum that the store has for the model.
  ///   - store: the store's name.
  /// - Throws: ``StoreError``: `damaged`, `newerFormat` or `limit`.
  package static func model(_ text: String, checksum: String, of store: String) throws(StoreError) -> Model {
    guard TextBytes.areEqual(ModelDescription.checksum(ofText: text.utf8), checksum) else { throw changed(store) }
    return try Self.model(try description(Array(text.utf8), of: store), checksum, store)
  }

  /// As the other, for a text with other spaces and line breaks than the canonical one.
  package static func model(_ text: [UInt8], checksum: String, of store: String) throws(StoreError) -> Model {
    let description = try description(text, of: store)
    guard TextBytes.areEqual(description.checksum, checksum) else { throw changed(store) }
    return try model(description, checksum, store)
  }

  private static func model(
    _ description: ModelDescription, _ checksum: String, _ store: String
  ) throws(StoreError) -> Model {
    do throws(SchemaError) { return try Model(description, checksum: checksum) } catch {
      throw damaged(store, error.description)
    }
  }

  private static func changed(_ store: String) -> StoreError {
    damaged(store, "the text of its model is not the one that was written")
  }

  private static func description(_ text: [UInt8], of store: String) throws(StoreError) -> ModelDescription {
    do throws(StoredModelFault) {
      return try ModelDescription(storedText: text)
    } catch {
      switch error.kind {
      case .damaged: throw damaged(store, error.message)
      case .newerFormat:
        throw StoreError(
          .newerFormat, "\(store) was written by a newer version of Trellis: \(error.message)",
          remedy: "Update Trellis in this program.")
      case .limit:
        throw StoreError(
          .limit, "The model in \(store) is too large: \(error.message)", remedy: "Restore the file from a backup.")
      }
    }
  }

  private static func damaged(_ store: String, _ reason: String) -> StoreError {
    StoreError(.damaged, "\(store) is damaged: \(reason).", remedy: "Restore the file from a backup.")
  }
}
