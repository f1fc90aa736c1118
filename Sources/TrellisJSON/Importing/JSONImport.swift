@_spi(Generated) public import TrellisRuntime

/// What an import does with objects that cannot be imported.
public enum JSONRejection: Hashable, Sendable {
  /// An object that cannot be imported is left out, with what is nested in it. The others are imported, and saved in
  /// batches.
  case objects
  /// Nothing is saved if any object cannot be imported.
  case everything
}

/// How far an import has come.
public struct JSONImportProgress: Hashable, Sendable {
  /// The number of bytes that are read, of all inputs.
  public let bytes: Int
  /// The number of bytes of all inputs; nil if it is not known.
  public let totalBytes: Int?
  /// The number of elements of all inputs that are imported.
  public let elements: Int
}

extension JSONImportProgress: CustomStringConvertible {
  /// The numbers of elements and bytes: `12 elements, 300 of 4000 bytes`.
  public var description: String { "\(elements) elements, \(bytes)\(totalBytes.map { " of \($0)" } ?? "") bytes" }
}

/// What an import has done.
public struct JSONImportReport: Sendable {
  /// The new objects.
  public internal(set) var inserted = ImportedObjects()
  /// The objects of the store of which a value or a relationship has changed.
  public internal(set) var updated = ImportedObjects()
  /// The objects that had all values already. Nothing was written for them.
  public internal(set) var unchanged = ImportedObjects()
  /// The objects that were deleted, because they have lost their owners and nothing owns them at the end of the import.
  /// What their delete rules delete with them is not listed.
  public internal(set) var deleted = ImportedObjects()
  /// The reasons why objects were left out, in the order in which they were found.
  public internal(set) var rejected: [JSONImportFailure] = []
  /// The references to objects that neither the inputs nor the store has. The objects with these references are imported,
  /// without them.
  public internal(set) var unresolved: [JSONImportFailure] = []
  /// The number of rows of CSV files that have separators only, as spreadsheets write them below a table. They are no objects.
  public internal(set) var emptyRows = 0

  /// Lists each object once: a new one as inserted, also if a later batch has changed it.
  mutating func settle(deleting keys: [Int64]) {
    let gone = keys.sorted().map { $0...$0 }
    inserted.listOnce(except: [gone])
    updated.listOnce(except: [gone, inserted.sortedRanges])
    unchanged.listOnce(except: [gone, inserted.sortedRanges, updated.sortedRanges])
  }
}

extension JSONImportReport: CustomStringConvertible {
  /// The numbers of objects and failures: `2 inserted, 1 updated, 3 unchanged, 1 deleted, 1 rejected`. Deleted objects,
  /// failures and empty rows are mentioned if there are any.
  public var description: String {
    let others = [
      (deleted.count, "deleted"), (rejected.count, "rejected"), (unresolved.count, "unresolved"),
      (emptyRows, "empty row\(emptyRows == 1 ? "" : "s")"),
    ]
    let counts = [(inserted.count, "inserted"), (updated.count, "updated"), (unchanged.count, "unchanged")]
    return (counts + others.filter { $0.0 > 0 }).map { "\($0) \($1)" }.joined(separator: ", ")
  }
}

/// The objects that an import has met, as ranges of keys: an import of millions of objects needs little memory for them.
public struct ImportedObjects: RandomAccessCollection, Sendable {
  private struct Run {
    let entity: Int
    var keys: ClosedRange<Int64>
    /// The number of objects in the runs before.
    let start: Int
  }

  private var runs: [Run] = []
  private var names: [Int: @Sendable (Int64) -> AnyObjectID] = [:]

  init() {}

  public var startIndex: Int { 0 }
  public private(set) var endIndex = 0

  /// - Complexity: logarithmic in the number of ranges.
  public subscript(position: Int) -> AnyObjectID {
    precondition(indices.contains(position), "There is no object at this position.")
    var (low, high) = (0, runs.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if runs[middle].start <= position { low = middle } else { high = middle }
    }
    let run = runs[low]
    let key = run.keys.lowerBound + Int64(position - run.start)
    return names[run.entity]?(key) ?? AnyObjectID(entity: "", key: key, type: ManagedObject.self)
  }

  mutating func append(_ object: ManagedObject, _ entity: Int) {
    let key = object._key
    if names[entity] == nil {
      let type = type(of: object)
      let name = AnyObjectID(object).entity
      names[entity] = { AnyObjectID(entity: name, key: $0, type: type) }
    }
    append(key...key, entity)
  }

  private mutating func append(_ keys: ClosedRange<Int64>, _ entity: Int) {
    if let last = runs.last, last.entity == entity, last.keys.upperBound + 1 == keys.lowerBound {
      runs[runs.count - 1].keys = last.keys.lowerBound...keys.upperBound
    } else {
      runs.append(Run(entity: entity, keys: keys, start: endIndex))
    }
    endIndex += keys.count
  }

  private mutating func removeAll() {
    runs = []
    endIndex = 0
  }
}

extension ImportedObjects {
  /// The ranges of keys, in ascending order. They do not overlap.
  fileprivate var sortedRanges: [ClosedRange<Int64>] { runs.map(\.keys).sorted { $0.lowerBound < $1.lowerBound } }

  /// Leaves out keys that are listed already, or are in ranges in ascending order.
  ///
  /// - Complexity: O(n log n) for n ranges.
  fileprivate mutating func listOnce(except others: [[ClosedRange<Int64>]]) {
    let sorted = sortedRanges
    if zip(sorted, sorted.dropFirst()).contains(where: { $0.upperBound >= $1.lowerBound }) { unite() }
    for ranges in others where !ranges.isEmpty { subtract(ranges) }
  }

  /// Puts the ranges in ascending order and unites those that overlap.
  private mutating func unite() {
    let sorted = runs.sorted { $0.keys.lowerBound < $1.keys.lowerBound }
    removeAll()
    for run in sorted {
      let lower = Swift.max(run.keys.lowerBound, (runs.last?.keys.upperBound ?? .min) &+ 1)
      if runs.isEmpty {
        append(run.keys, run.entity)
      } else if lower <= run.keys.upperBound {
        append(lower...run.keys.upperBound, run.entity)
      }
    }
  }

  private mutating func subtract(_ ranges: [ClosedRange<Int64>]) {
    let former = runs
    removeAll()
    for run in former {
      var lower = run.keys.lowerBound
      var (place, end) = (0, ranges.count)
      while place < end {
        let middle = (place + end) / 2
        if ranges[middle].upperBound < lower { place = middle + 1 } else { end = middle }
      }
      while place < ranges.count, ranges[place].lowerBound <= run.keys.upperBound, lower <= run.keys.upperBound {
        if lower < ranges[place].lowerBound { append(lower...ranges[place].lowerBound - 1, run.entity) }
        lower = Swift.max(lower, ranges[place].upperBound + 1)
        place += 1
      }
      if lower <= run.keys.upperBound { append(lower...run.keys.upperBound, run.entity) }
    }
  }
}

extension ImportedObjects: CustomStringConvertible {
  /// The number of objects for each entity.
  public var description: String {
    var counts: [Int: Int] = [:]
    for run in runs { counts[run.entity, default: 0] += run.keys.count }
    let parts = counts.sorted { $0.key < $1.key }.map { entity, count in "\(count) × \(names[entity]?(0).entity ?? "")"
    }
    return parts.isEmpty ? "no objects" : parts.joined(separator: ", ")
  }
}

/// A place in a JSON input.
public struct JSONPlace: Hashable, Sendable, CustomStringConvertible {
  /// The name of the input, such as that of its file; nil for data without a name.
  public let file: String?
  /// The line, from 1.
  public let line: Int
  /// The column in bytes, from 1.
  public let column: Int
  /// The JSON Pointer (RFC 6901) of the value; in an input of lines, within its line.
  public let pointer: String

  /// The file, the line, the column and the pointer: `pokemon/25.json:41:19 /results/24/stats/0/base_stat`.
  public var description: String {
    "\(file.map { "\($0):" } ?? "")\(line):\(column) \(pointer.isEmpty ? "/" : pointer)"
  }
}

/// The reason why an import has left out an object or a reference.
public struct JSONImportFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of reasons.
  public enum Code: String, Hashable, Sendable {
    /// The text is no JSON, not UTF-8, or nested too deeply.
    case badSyntax = "bad-syntax"
    /// A value is none of the property's type, or null where the property is required.
    case badValue = "bad-value"
    /// The key of the object is absent or null.
    case missingKey = "missing-key"
    /// A new object lacks values that it needs.
    case missingValues = "missing-values"
    /// A reference leads to no object.
    case missingPartner = "missing-partner"
    /// The entity of the object cannot be told, or the store has another one under the key.
    case wrongEntity = "wrong-entity"
    /// The object breaks a rule of the model.
    case brokenRule = "broken-rule"
    /// The store has the object already, and the policy is `error`.
    case exists
    /// Another object has the values of a unique key that is not the one by which objects are found.
    case unique
  }

  /// The kind of the reason.
  public let code: Code
  /// Where the value, or the object, stands; nil if the place is not known any more.
  public let place: JSONPlace?
  /// The name of the entity; empty for a text that is no JSON.
  public let entity: String
  /// The name of the property; nil if the object as a whole is meant.
  public let property: String?
  /// The reason, as a sentence without a full stop. It contains no value of the input.
  public let message: String
  /// The key of the object that a reference does not lead to, as a text. It is a value of the input, so that the description
  /// does not have it; nil for other failures.
  public internal(set) var key: String?

  /// The place, the property, the reason and the code:
  /// `25.json:41:19 /stats/0/base_stat: Pokemon.hp: must be a whole number from -32768 to 32767 [bad-value]`.
  public var description: String {
    let name = entity.isEmpty ? "" : "\(entity)\(property.map { ".\($0)" } ?? ""): "
    return "\(place.map { "\($0): " } ?? "")\(name)\(message) [\(code.rawValue)]"
  }
}

/// The error when an import is given up. Nothing of it that was not saved before remains in the context.
public struct JSONImportError: Error, Sendable, CustomStringConvertible {
  /// Why the import was given up; a sentence.
  public let message: String
  /// The failures, in the order in which they were found.
  public let failures: [JSONImportFailure]

  /// The message, and the first twenty failures.
  public var description: String {
    let lines = failures.prefix(20).map { "- \($0)" }
    let more = failures.count > 20 ? ["- and \(failures.count - 20) more"] : []
    return ([message] + lines + more).joined(separator: "\n")
  }
}
