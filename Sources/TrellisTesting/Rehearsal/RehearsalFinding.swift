/// Something that a release manager has to know of a rehearsed migration.
public struct RehearsalFinding: Hashable, Sendable {
  /// The kind of a finding. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The text of the code.
    public let rawValue: String

    /// Creates a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store is refused.
    public static let refused = Code(rawValue: "refused")
    /// Objects are gone.
    public static let objectLost = Code(rawValue: "object-lost")
    /// There are objects that the former store did not have.
    public static let objectAdded = Code(rawValue: "object-added")
    /// Objects are of another entity than the one that their own became.
    public static let entityChanged = Code(rawValue: "entity-changed")
    /// Values are gone.
    public static let valueLost = Code(rawValue: "value-lost")
    /// Values are other ones.
    public static let valueChanged = Code(rawValue: "value-changed")
    /// Links between objects that stay are gone.
    public static let linkLost = Code(rawValue: "link-lost")
    /// There are links that the former store did not have.
    public static let linkAdded = Code(rawValue: "link-added")
    /// The members of an ordered relationship have another order.
    public static let orderChanged = Code(rawValue: "order-changed")
    /// The migrated store breaks a rule of the model, or is damaged.
    public static let ruleBroken = Code(rawValue: "rule-broken")
    /// A store that was opened with each version in turn differs from one that was opened with the newest at once.
    public static let pathsDiffer = Code(rawValue: "paths-differ")
    /// Something is lost, and the plan of the migration did not say so.
    public static let notAnnounced = Code(rawValue: "not-announced")
  }

  /// The kind.
  public let code: Code
  /// The entity or property, as `Entry.title`, by its current name if it has one; empty for a whole store.
  public let subject: String
  /// What happened, as the end of a sentence that begins with the subject.
  public let message: String
  /// What to do, as a sentence; empty for what the model announces.
  public let advice: String
  /// The version whose programs do it; nil for the newest model.
  public let program: Int?
  /// The versions of the stores, in ascending order.
  public internal(set) var versions: [Int] = []
  /// The number of objects, values or links, in all stores together; 0 if they are not counted.
  public internal(set) var count = 0
  /// Some of the objects, as `Entry/12`.
  public internal(set) var examples: [String] = []
  /// The store in which it was found first: `seed 1`, or the name of a file.
  public internal(set) var store = ""

  init(_ code: Code, _ subject: String, _ message: String, _ advice: String = "", program: Int? = nil) {
    self.code = code
    self.subject = subject
    self.message = message
    self.advice = advice
    self.program = program
  }
}

extension RehearsalFinding: CustomStringConvertible {
  /// The finding in a line: `value-lost Entry.mood: gone; 12 in versions 1 to 3, such as Entry/7 of seed 1`.
  public var description: String {
    let place = versions.isEmpty ? store : Self.text(of: versions)
    let number = count > 0 ? "\(count) in " : ""
    let shown = examples.isEmpty ? "" : ", such as \(examples.joined(separator: ", ")) of \(store)"
    let way = program.map { ", on the way to version \($0)" } ?? ""
    let name = subject.isEmpty ? "" : " \(subject)"
    return "\(code.rawValue)\(name): \(message)\(way); \(number)\(place)\(shown)"
  }

  /// The numbers of versions in words: `versions 1 to 3, 5`.
  package static func text(of versions: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for version in versions.sorted() {
      if let last = ranges.last, version <= last.upperBound + 1 {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, version)
      } else {
        ranges.append(version...version)
      }
    }
    let words = ranges.map { range in
      range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
    return (versions.count == 1 ? "version " : "versions ") + words.joined(separator: ", ")
  }
}

/// Findings that differ in nothing but the store are one.
struct FindingCollection {
  private static let mostExamples = 3
  private(set) var all: [RehearsalFinding] = []
  private var places: [RehearsalFinding: Int] = [:]

  var isEmpty: Bool { all.isEmpty }

  /// - Parameters:
  ///   - finding: The finding without what is collected.
  ///   - version: The version of the store; nil if it is of none.
  mutating func add(_ finding: RehearsalFinding, count: Int, examples: [String], version: Int?, store: String) {
    let place = places[finding] ?? all.count
    if place == all.count {
      places[finding] = place
      all.append(finding)
      all[place].store = store
    }
    if let version, !all[place].versions.contains(version) {
      all[place].versions.append(version)
      all[place].versions.sort()
    }
    all[place].count += count
    all[place].examples += examples.prefix(Self.mostExamples - all[place].examples.count)
  }
}
