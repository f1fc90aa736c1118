import TrellisSchema
public import TrellisStorage

extension StoreConfiguration {
  /// A new, empty in-memory store for each container that opens it.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .memory)
  /// ```
  public static var memory: StoreConfiguration {
    StoreConfiguration { MemoryStore($0) }
  }

  /// An in-memory store that is shared by all containers of this process that open it by the same name. It is released
  /// with the last container.
  ///
  /// - Parameter name: any text. Opening throws ``StoreError`` if the store was created with another model. Models that
  ///   differ only in docs, rules, defaults or indexes count as the same.
  public static func memory(named name: String) -> StoreConfiguration {
    StoreConfiguration { model in try NamedStores.open(name) { MemoryStore(model, name: name) } }
  }
}

/// The stores that are shared by name.
private enum NamedStores {
  private struct Entry {
    weak var store: MemoryStore?
  }

  private static let entries = Locked<[String: Entry]>([:])

  static func open(_ name: String, make: () -> MemoryStore) throws -> MemoryStore {
    let made = make()
    let found = entries.withLock { entries in
      if let store = entries[name]?.store { return store }
      entries[name] = Entry(store: made)
      return made
    }
    guard found.layout.model.isKept(as: made.layout.model) else {
      throw StoreError(
        .otherModel, "The store in memory named \(name) was made with another model.",
        remedy: "Use another name, or the same model.")
    }
    return found
  }
}

extension Model {
  /// Whether the store accepts rows of the other model: both have the same storage layout and the same numbers of
  /// entities and properties, by which a store is queried.
  fileprivate func isKept(as other: Model) -> Bool {
    name == other.name && storageSignature == other.storageSignature && entities.count == other.entities.count
      && zip(entities, other.entities).allSatisfy { mine, others in
        mine.name == others.name && mine.properties.map(\.name) == others.properties.map(\.name)
      }
  }
}
