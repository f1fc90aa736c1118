package import TrellisRuntime

/// The entity and the key of an object as people write them: `EmotionDiary#3`.
package struct ObjectName: Hashable, Sendable, CustomStringConvertible {
  /// The name of the object's entity, or of an ancestor.
  package let entity: String
  package let key: Int64

  package init(_ entity: String, _ key: Int64) {
    self.entity = entity
    self.key = key
  }

  /// - Returns: nil if the text has no name, no `#` or no key above 0.
  package init?(_ text: String) {
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let key = Int64(parts[1]), key > 0 else { return nil }
    self.init(String(parts[0]), key)
  }

  package var description: String { "\(entity)#\(key)" }
}

extension ManagedObjectContext {
  /// The object with a name.
  ///
  /// - Throws: ``DynamicError`` with the code `unknown-entity` or `missing-object`; ``StoreError`` if the store fails.
  package func object(_ name: ObjectName) throws -> DynamicObject {
    if let object = try object(name.entity, name.key) { return object }
    throw DynamicError(.missingObject, name.entity, nil, "There is no object \(name).")
  }
}

extension DynamicObject {
  /// The entity and the key.
  package final var name: ObjectName { ObjectName(entityName, key) }

  /// A text by which people know the object: the first text that is not empty, of a unique key if there is one; nil if
  /// the object has none.
  ///
  /// - Parameter length: The maximum number of scalars.
  package final func label(length: Int = 40) -> String? {
    guard let entity else { return nil }
    let keyed = Set(entity.uniqueKeys.flatMap(\.properties))
    let texts = entity.properties.compactMap(\.attribute).filter { $0.type == .string && $0.column != nil }
    for attribute in texts.filter({ keyed.contains($0.index) }) + texts.filter({ !keyed.contains($0.index) }) {
      guard case .text(let text) = value(of: attribute), !text.isEmpty else { continue }
      return ValueText.shortened(text, length)
    }
    return nil
  }
}
