import Foundation
import TrellisSchema
import TrellisStorage

extension DocumentReader {
  /// The features that the document uses. Empty if the document does not list any.
  func readFeatures() throws(DocumentFault) -> StoreFeatures {
    var features = StoreFeatures()
    guard let start = sections[DocumentFormat.features] else { return features }
    var scanner = JSONScanner(bytes, at: start)
    guard try scanner.open("{", "}", "an object with lists of words") else { return features }
    repeat {
      let place = scanner.offset
      let key = try scanner.key()
      let words = try Self.words(&scanner)
      switch key {
      case DocumentFormat.compatible: features.compatible = words
      case DocumentFormat.readOnlyCompatible: features.readOnlyCompatible = words
      case DocumentFormat.incompatible: features.incompatible = words
      default: throw DocumentFault("there is no such kind of features", at: place)
      }
    } while try scanner.goOn("}")
    return features
  }

  private static func words(_ scanner: inout JSONScanner) throws(DocumentFault) -> Set<String> {
    let start = scanner.offset
    var words: [String] = []
    if try scanner.open("[", "]", "a list of words") {
      repeat { words.append(try text(&scanner)) } while try scanner.goOn("]")
    }
    guard StoreFeatures.areWords(words) else {
      throw DocumentFault("features are words of letters from a to z, digits and hyphens", at: start)
    }
    return Set(words)
  }

  /// The former models of the document.
  func readFormerModels() throws(DocumentFault) -> [DocumentLineage.FormerModel] {
    guard let start = sections[DocumentFormat.models] else { return [] }
    var scanner = JSONScanner(bytes, at: start)
    var models: [DocumentLineage.FormerModel] = []
    guard try scanner.open("[", "]", "a list of models") else { return [] }
    repeat { models.append(try Self.formerModel(&scanner)) } while try scanner.goOn("]")
    return models
  }

  private static func formerModel(_ scanner: inout JSONScanner) throws(DocumentFault) -> DocumentLineage.FormerModel {
    let start = scanner.offset
    var model = DocumentLineage.FormerModel(checksum: "", description: [])
    if try scanner.open("{", "}", "a model, which is an object") {
      repeat {
        let place = scanner.offset
        switch try scanner.key() {
        case DocumentFormat.checksum: model.checksum = try text(&scanner)
        case DocumentFormat.version: model.version = try text(&scanner)
        case DocumentFormat.replaced:
          let place = scanner.offset
          guard let moment = DateText.microseconds(try text(&scanner)) else {
            throw scanner.expected("a date", at: place)
          }
          model.replaced = moment
        case DocumentFormat.description: model.description = try verbatim(&scanner)
        default: throw DocumentFault("a former model has no key of this name", at: place)
        }
      } while try scanner.goOn("}")
    }
    guard !model.checksum.isEmpty, !model.description.isEmpty else {
      throw DocumentFault("a former model has a \"checksum\" and a \"description\"", at: start)
    }
    return model
  }

  /// The document's current model, as a former model, because it is about to be replaced.
  func readPresentModel(checksum: String) throws(DocumentFault) -> DocumentLineage.FormerModel {
    var scanner = try section(DocumentFormat.description)
    let description = try Self.verbatim(&scanner)
    var version: String?
    if sections[DocumentFormat.version] != nil { version = try text(of: DocumentFormat.version) }
    return DocumentLineage.FormerModel(
      checksum: checksum, version: version, replaced: Int64(Date().timeIntervalSince1970 * 1_000_000),
      description: description)
  }

  private static func text(_ scanner: inout JSONScanner) throws(DocumentFault) -> String {
    guard scanner.next == UInt8(ascii: "\"") else { throw scanner.expected("a text in double quotes") }
    return try scanner.string()
  }

  private static func verbatim(_ scanner: inout JSONScanner) throws(DocumentFault) -> [UInt8] {
    let start = scanner.offset
    try scanner.skipValue(depth: 4)
    return Array(scanner.bytes[start..<scanner.offset])
  }
}
