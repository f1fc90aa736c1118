public import TrellisSchema

/// The reason why a stored model text cannot be used.
public struct StoredModelFault: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable {
    /// The text contains words that this version of Trellis does not know, because a newer version wrote it.
    case newerFormat = "newer-format"
    /// The text was not written by any version of Trellis.
    case damaged = "damaged"
    /// The text or its model exceeds ``Limits``.
    case limit = "limit"
  }

  public let kind: Kind
  /// The problem and its position, as a sentence. It may name entities and properties.
  public let message: String

  public var description: String { "\(message) [\(kind.rawValue)]" }
}

extension ModelFile {
  /// Reads the model text from a store, which an earlier version of Trellis may have written under other rules.
  ///
  /// Only the checks needed for a valid model apply: the grammar, parents, types, destinations, inverses. Names,
  /// patterns and predicates may be arbitrary, because no code is generated from them; a default or a bound that no
  /// longer matches its type is left out. The text may come from a hostile file: it cannot cause a trap, and text that
  /// exceeds ``Limits`` is refused.
  ///
  /// - Parameter bytes: the text, as from ``ModelDescription/canonicalJSON()``.
  /// - Returns: a description that can be resolved to a ``Model``. It equals the description that the text was made
  ///   from.
  /// - Throws: ``StoredModelFault``.
  /// - Complexity: linear in the length of the text, and in the number of relationships times those of their
  ///   destinations.
  public static func parseStored(_ bytes: [UInt8]) throws(StoredModelFault) -> ModelDescription {
    let findings = Findings()
    let draft = bytes.withUnsafeBufferPointer { readStored($0, findings) }
    guard let draft, findings.errorCount == 0 else {
      throw StoredModelFault(bytes.withUnsafeBufferPointer { findings.diagnostics(in: $0, path: "model") })
    }
    let description = draft.description
    do throws(SchemaError) {
      _ = try Model(description)
    } catch {
      throw StoredModelFault(kind: .damaged, message: "The stored model is none: \(error.description.asMessage).")
    }
    return description
  }

  private static func readStored(_ bytes: UnsafeBufferPointer<UInt8>, _ findings: Findings) -> Draft? {
    guard bytes.count <= Limits.fileSize else {
      findings.error(
        .fileTooLarge, at: 0, "The text has \(bytes.count) bytes; that of a model may have \(Limits.fileSize).")
      return nil
    }
    var reader = JSONReader(bytes, findings)
    guard let root = reader.readFile(), findings.errorCount == 0 else { return nil }
    guard var draft = GrammarReader(findings).readModel(root), findings.errorCount == 0 else { return nil }
    for pass in Rulebook.stored {
      pass(&draft, findings)
      guard findings.errorCount == 0 else { return nil }
    }
    // Rules and defaults that do not match are left out. They would only affect new values.
    let ignored = Findings()
    AttributeRulesCheck.check(&draft, ignored)
    Defaults.check(&draft, ignored)
    return draft
  }
}

extension StoredModelFault {
  /// - Parameter diagnostics: the findings, in the order of the text.
  fileprivate init(_ diagnostics: [Diagnostic]) {
    let errors = diagnostics.filter { $0.severity == .error }
    let unknown = errors.first { Self.unknown.contains($0.code) }
    let large = errors.first { Self.large.contains($0.code) }
    guard let first = large ?? unknown ?? errors.first else {
      self.init(kind: .damaged, message: "The stored model cannot be read.")
      return
    }
    let place = "line \(first.position.line), column \(first.position.column)"
    self.init(
      kind: large != nil ? .limit : unknown != nil ? .newerFormat : .damaged,
      message: "The stored model cannot be read at \(place): \(first.message)")
  }

  /// Codes for texts of a newer version of Trellis.
  private static let unknown: Set<DiagnosticCode> = [.unknownKey, .unknownWord, .unknownType]
  private static let large: Set<DiagnosticCode> = [.fileTooLarge, .tooDeep, .tooMany, .parentChainTooLong]
}
