import TrellisSchema
public import TrellisStorage

extension StoreConfiguration {
  /// A new and empty store in memory for each container that opens it.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .memory)
  /// ```
  public static var memory: StoreConfiguration {
    StoreConfiguration { MemoryStore($0) }
  }

  /// One store in memory for all containers of this process that open it by the same name; it is gone with the last.
  ///
  /// - Parameter name: any text. Opening throws ``StoreError`` when the store was made with another model; one that differs in
  ///   docs, rules, defaults or indexes only is the same here.
  public static func memory(named name: String) -> StoreConfiguration {
    StoreConfiguration { model in try NamedStores.open(name) { MemoryStore(model, name: name) } }
  }
}

/// The stores that containers share by name.
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
  /// Whether rows of another model are rows of this one: stored alike, and with the same numbers, by which a store is asked.
  fileprivate func isKept(as other: Model) -> Bool {
    name == other.name && storageSignature == other.storageSignature && entities.count == other.entities.count
      && zip(entities, other.entities).allSatisfy { mine, others in
        mine.name == others.name && mine.properties.map(\.name) == others.properties.map(\.name)
      }
  }
}
