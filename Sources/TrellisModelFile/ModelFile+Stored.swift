public import TrellisSchema

/// Why the text of a model that a store carries cannot be used.
public struct StoredModelFault: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, Hashable, Sendable {
    /// The text has words that this version of Trellis does not know; a newer one wrote it.
    case newerFormat = "newer-format"
    /// The text is none that any version of Trellis writes.
    case damaged = "damaged"
    /// The text, or the model in it, is beyond ``Limits``.
    case limit = "limit"
  }

  public let kind: Kind
  /// What is wrong with it and where, as a sentence. It may name entities and properties.
  public let message: String

  public var description: String { "\(message) [\(kind.rawValue)]" }
}

extension ModelFile {
  /// Reads the text of a model that a store carries, which an earlier Trellis may have written under other rules.
  ///
  /// What is asked for is what the text must have to be a model at all: the grammar, parents, types, destinations, inverses.
  /// Names, patterns and predicates may be any, since no code is made of them; a default or a bound that does not fit its type
  /// any more is left out. The text may come from a hostile file: it cannot trap, and what is beyond ``Limits`` is refused.
  ///
  /// - Parameter bytes: the text, as ``ModelDescription/canonicalJSON()`` writes it.
  /// - Returns: a description that can be resolved into a ``Model``. It is equal to the one whose canonical text it is.
  /// - Throws: ``StoredModelFault``.
  /// - Complexity: linear in the length of the text, and in the number of relationships times those of their destinations.
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
    // What does not fit is left out; it would bind new values only.
    let ignored = Findings()
    AttributeRulesCheck.check(&draft, ignored)
    Defaults.check(&draft, ignored)
    return draft
  }
}

extension StoredModelFault {
  /// - Parameter diagnostics: what was found, in the order of the text.
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

  /// What a newer Trellis would have written.
  private static let unknown: Set<DiagnosticCode> = [.unknownKey, .unknownWord, .unknownType]
  private static let large: Set<DiagnosticCode> = [.fileTooLarge, .tooDeep, .tooMany, .parentChainTooLong]
}
