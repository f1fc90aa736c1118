import TrellisSchema

/// Parses model files to a description or diagnostics.
///
/// ```swift
/// let result = ModelFile.parse(bytes, path: "Diary.model.json")
/// print(result.rendered())
/// if let description = result.description { generate(from: description) }
/// ```
public struct ModelFile {
  /// Parses and checks a model file.
  ///
  /// No file can cause a trap or a hang: files that exceed ``Limits`` are refused with a message.
  ///
  /// - Parameters:
  ///   - bytes: the file's content, UTF-8 with or without a byte order mark.
  ///   - path: the name of the file in messages. The file is not opened.
  ///   - neighbors: other models of the same target. Their names are not available to this model.
  /// - Complexity: linear in the size of the file, except for sorting the findings.
  public static func parse(_ bytes: [UInt8], path: String, besides neighbors: [Neighbor] = []) -> ModelFileResult {
    let findings = Findings()
    let draft = bytes.withUnsafeBufferPointer { parse($0, findings) }
    if let draft { NeighborClashes.check(draft, besides: neighbors, findings) }
    return ModelFileResult(
      path: path, description: findings.errorCount == 0 ? draft?.description : nil,
      foundationPredicates: draft?.foundationPredicates ?? false,
      diagnostics: bytes.withUnsafeBufferPointer { findings.diagnostics(in: $0, path: path) },
      omittedErrorCount: findings.omittedErrorCount)
  }

  private static func parse(_ bytes: UnsafeBufferPointer<UInt8>, _ findings: Findings) -> Draft? {
    guard bytes.count <= Limits.fileSize else {
      findings.error(
        .fileTooLarge, at: 0,
        "The file has \(bytes.count) bytes; a model file may have \(Limits.fileSize). Split the model into several files."
      )
      return nil
    }
    var reader = JSONReader(bytes, findings)
    guard let root = reader.readFile(), findings.errorCount == 0 else { return nil }
    guard var draft = GrammarReader(findings).readModel(root), findings.errorCount == 0 else { return nil }
    return Rulebook.check(&draft, findings) ? draft : nil
  }
}
