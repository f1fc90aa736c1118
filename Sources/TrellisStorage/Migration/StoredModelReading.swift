package import TrellisModel
import TrellisModelFile

/// Reads the model that a store carries.
package enum StoredModelReading {
  /// - Parameters:
  ///   - text: the model's canonical text, as it is in the store. It may come from anywhere.
  ///   - checksum: the checksum that the store has for the model.
  ///   - store: the store's name.
  /// - Throws: ``StoreError``: `damaged`, `newerFormat` or `limit`.
  package static func model(_ text: String, checksum: String, of store: String) throws(StoreError) -> Model {
    guard TextBytes.areEqual(ModelDescription.checksum(of: text), checksum) else {
      throw damaged(store, "the text of its model is not the one that was written")
    }
    let description: ModelDescription
    do throws(StoredModelFault) {
      description = try ModelFile.parseStored(Array(text.utf8))
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
    do throws(SchemaError) { return try Model(description, checksum: checksum) } catch {
      throw damaged(store, error.description)
    }
  }

  private static func damaged(_ store: String, _ reason: String) -> StoreError {
    StoreError(.damaged, "\(store) is damaged: \(reason).", remedy: "Restore the file from a backup.")
  }
}
