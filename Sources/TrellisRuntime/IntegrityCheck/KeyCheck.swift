import TrellisQuery
import TrellisStorage

/// Finds objects of different hierarchies with the same key. The keys of each hierarchy are read in order, page by
/// page, and compared as far as all hierarchies have been read.
struct KeyCheck {
  private static let pageSize = 4096

  private struct Source {
    let entity: EntityInfo
    var waiting: ArraySlice<Int64> = []
    var last: Int64?
    var isAtEnd = false
  }

  private let check: GraphCheck
  private var sources: [Source]

  init(_ check: GraphCheck) {
    self.check = check
    sources = check.runtime.entities.filter { $0.entity.parent == nil }.map { Source(entity: $0) }
  }

  mutating func run() throws {
    while true {
      for number in sources.indices where sources[number].waiting.isEmpty { try read(number) }
      // All keys up to this one have been read from every hierarchy.
      guard let bound = sources.compactMap(\.waiting.last).min() else { return }
      var holders: [Int64: Int] = [:]
      for number in sources.indices {
        while let key = sources[number].waiting.first, key <= bound {
          sources[number].waiting.removeFirst()
          if let other = holders.updateValue(number, forKey: key), other != number { try note(key, number, other) }
        }
      }
    }
  }

  private mutating func read(_ number: Int) throws {
    guard !sources[number].isAtEnd else { return }
    let key = Operand.path(PropertyPath(variable: 0))
    let behind = sources[number].last.map {
      QueryPredicate.comparison(Comparison(key, .greater, .value(.integer($0)), kind: .integer))
    }
    let request = StoreRequest(entity: sources[number].entity.number, predicate: behind, limit: Self.pageSize)
    var found: [Int64] = []
    let last = sources[number].last ?? .min
    do {
      // A damaged file may return keys out of order or repeatedly.
      try check.connection.fetchKeys(request) { key, _ in if key > last { found.append(key) } }
      found.sort()
    } catch let error as StoreError where error.code == .damaged || error.code == .unreadableValue {
      // Unreadable data is reported by the check of the objects themselves.
      sources[number].isAtEnd = true
      return
    }
    sources[number].isAtEnd = found.count < Self.pageSize
    sources[number].last = found.last
    sources[number].waiting = found[...]
  }

  private func note(_ key: Int64, _ number: Int, _ other: Int) throws {
    try check.note(
      StoreFinding(
        .notUnique, "An object of \(sources[other].entity.name) has the same key.",
        repair: "Copy one of the two into a new object, and delete it.", entity: sources[number].entity.name, key: key))
  }
}
