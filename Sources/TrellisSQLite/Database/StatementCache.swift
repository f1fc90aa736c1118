internal import CSQLite
import TrellisSQL

/// A prepared statement.
final class Statement {
  let pointer: OpaquePointer
  let text: String
  /// The parameters of a request's statement.
  let parameters: [Parameter]
  /// The number of values that a row's statement binds.
  var valueCount: Int32 = 0
  fileprivate(set) var words: ContiguousArray<UInt64> = []
  fileprivate var lastUse: UInt64 = 0
  /// The next statement whose words have the same hash.
  fileprivate var next: Statement?

  init(_ pointer: OpaquePointer, _ text: String, _ parameters: [Parameter]) {
    self.pointer = pointer
    self.text = text
    self.parameters = parameters
  }
}

/// Prepared statements by the words that describe their SQL. If there are too many, the least recently used ones are
/// removed.
struct StatementCache {
  static let limit = 256

  private var statements: [UInt64: Statement] = [:]
  private var count = 0
  private var clock: UInt64 = 0
  private var latest: Statement?

  var all: [Statement] {
    var all: [Statement] = []
    for first in statements.values {
      var open: Statement? = first
      while let statement = open {
        all.append(statement)
        open = statement.next
      }
    }
    return all
  }

  /// The cached statement for these words.
  ///
  /// - Complexity: linear in the number of words.
  mutating func statement(_ words: ContiguousArray<UInt64>) -> Statement? {
    clock &+= 1
    if let latest, latest.words == words {
      latest.lastUse = clock
      return latest
    }
    var open = statements[Self.hash(words)]
    while let statement = open {
      if statement.words == words {
        statement.lastUse = clock
        latest = statement
        return statement
      }
      open = statement.next
    }
    return nil
  }

  /// Caches a statement, and returns the statements that were removed for it.
  mutating func insert(_ statement: Statement, _ words: ContiguousArray<UInt64>) -> [Statement] {
    let removed = count >= Self.limit ? evict() : []
    statement.words = words
    statement.lastUse = clock
    let hash = Self.hash(words)
    statement.next = statements[hash]
    statements[hash] = statement
    count += 1
    latest = statement
    return removed
  }

  /// Removes the older half, so that the cost of a pass over all statements is shared by many insertions.
  private mutating func evict() -> [Statement] {
    let sorted = all.sorted { $0.lastUse < $1.lastUse }
    let kept = sorted[(sorted.count / 2)...]
    statements.removeAll(keepingCapacity: true)
    latest = nil
    for statement in kept {
      let hash = Self.hash(statement.words)
      statement.next = statements[hash]
      statements[hash] = statement
    }
    count = kept.count
    let removed = Array(sorted[..<(sorted.count / 2)])
    for statement in removed { statement.next = nil }
    return removed
  }

  private static func hash(_ words: ContiguousArray<UInt64>) -> UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    for word in words { hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD ^ (hash >> 29) }
    return hash
  }
}
