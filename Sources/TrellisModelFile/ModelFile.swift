public import TrellisModel

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
      foundationPredicates: draft?.foundationPredicates ?? false, migrates: draft?.migrates.map(\.value) ?? [],
      diagnostics: bytes.withUnsafeBufferPointer { findings.diagnostics(in: $0, path: path) },
      omittedErrorCount: findings.omittedErrorCount)
  }

  private static func parse(_ bytes: UnsafeBufferPointer<UInt8>, _ findings: Findings) -> Draft? {
    guard let root = readJSON(bytes, findings) else { return nil }
    guard var draft = GrammarReader(findings).readModel(root), findings.errorCount == 0 else { return nil }
    return Rulebook.check(&draft, findings) ? draft : nil
  }

  private static func readJSON(_ bytes: UnsafeBufferPointer<UInt8>, _ findings: Findings) -> JSONNode? {
    guard bytes.count <= Limits.fileSize else {
      findings.error(
        .fileTooLarge, at: 0,
        "The file has \(bytes.count) bytes; a model file may have \(Limits.fileSize). Split the model into several files."
      )
      return nil
    }
    var reader = JSONReader(bytes, findings)
    guard let root = reader.readFile(), findings.errorCount == 0 else { return nil }
    return root
  }

  /// Reads the JSON of a file and nothing more, for tools that work with its text.
  ///
  /// - Parameter path: the name of the file in messages. The file is not opened.
  /// - Returns: the value of the file; nil if there are errors.
  package static func readJSON(_ bytes: [UInt8], path: String) -> (root: JSONNode?, diagnostics: [Diagnostic]) {
    let findings = Findings()
    return bytes.withUnsafeBufferPointer { bytes in
      let root = readJSON(bytes, findings)
      return (root, findings.diagnostics(in: bytes, path: path))
    }
  }
}

// MARK: - Model file result

/// The result of parsing a model file.
public struct ModelFileResult: Sendable {
  /// The name of the file in messages.
  public let path: String
  /// The model; nil if there are errors.
  public let description: ModelDescription?
  /// Whether the file requests classes that work with `#Predicate`. It is not part of the description, because it does
  /// not affect the stored data.
  public let foundationPredicates: Bool
  /// The numbers of the released versions whose rows steps of migrations read. They are not part of the description,
  /// because they do not affect the stored data.
  public let migrates: [Int]
  /// Errors and warnings, in the order of the file.
  public let diagnostics: [Diagnostic]
  /// The number of errors not included in ``diagnostics``.
  public let omittedErrorCount: Int

  /// Whether the model is unusable because of errors.
  public var hasErrors: Bool { description == nil }

  /// All diagnostics as text, one line each and one line per note; empty if there are none.
  ///
  /// - Parameter limit: the maximum number of printed diagnostics. A last line counts the others.
  package func rendered(limit: Int = Limits.shownDiagnostics) -> String {
    var text = diagnostics.prefix(limit).map { $0.rendered() + "\n" }.joined()
    let hidden = max(0, diagnostics.count - limit) + omittedErrorCount
    if hidden > 0 { text += "\(path):1:1: note: and \(hidden) more\n" }
    return text
  }
}
