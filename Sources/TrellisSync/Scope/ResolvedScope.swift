import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// A scope in a model, whose objects can be read at any moment.
struct ResolvedScope {
  /// A digest of what the scope asks for; empty for all objects. With the same digest, the objects at a moment are the
  /// same whenever they are asked for.
  let digest: String
  private let parts: [SyncScope.Part]

  /// - Returns: nil for all objects.
  /// - Throws: ``SyncError`` with the code `wrongScope`; errors of the requests, such as ``PredicateFormatError``.
  init?(_ scope: SyncScope, in context: ManagedObjectContext) throws {
    guard let parts = scope.parts else { return nil }
    self.parts = parts
    let texts = try parts.map { try $0.text(context) }
    if texts.contains(where: \.comparesWithNow) { throw SyncError.wrongScope }
    // What the objects require follows from the model.
    let all = ([context.model.checksum] + texts.sorted()).joined(separator: "\n")
    digest = ContentDigest(of: Array(all.utf8)).text
  }

  /// The objects at a context's moment.
  func contents(in context: ManagedObjectContext) throws -> ScopeContents {
    var contents = ScopeContents(context)
    for part in parts { try contents.add(part.keys(context), of: part.entity(context.model)) }
    try contents.close()
    return contents
  }
}

/// The objects of a scope at a moment, with all that they require.
///
/// Rules that hold for all objects hold for these, too: each required partner and counted member is there, fewer objects
/// have no more equal keys, and no more members than the most.
struct ScopeContents {
  /// The root of the hierarchy that each object belongs to, by its key.
  private(set) var roots: [Int64: Int] = [:]
  private let context: ManagedObjectContext
  private var model: Model { context.model }
  /// The objects whose partners have not been looked at.
  private var rest: [Int: [Int64]] = [:]
  private static let batch = 500

  fileprivate init(_ context: ManagedObjectContext) { self.context = context }

  func contains(_ key: Int64) -> Bool { roots[key] != nil }

  fileprivate mutating func add(_ keys: some Sequence<Int64>, of entity: Int) {
    let root = model.entities[entity].root
    for key in keys where roots.updateValue(root, forKey: key) == nil { rest[root, default: []].append(key) }
  }

  /// Adds what the objects require, and what that requires in turn.
  fileprivate mutating func close() throws {
    while let (root, keys) = rest.popFirst() {
      let subtree = model.entities[root].subtree
      guard subtree.contains(where: { !model.entities[$0].needs.isEmpty }) else { continue }
      for start in stride(from: 0, to: keys.count, by: Self.batch) {
        try addPartners(of: Array(keys[start..<min(start + Self.batch, keys.count)]), root)
      }
    }
  }

  private mutating func addPartners(of keys: [Int64], _ root: Int) throws {
    // A view of its own, so that no more objects than these are in memory.
    let view = MomentView(context)
    try view.load(Dictionary(keys.map { ($0, root) }) { first, _ in first })
    for key in keys {
      guard let object = try view.object(key, of: root) else { continue }
      for relationship in view.entity(of: object).needs {
        add(try view.partners(of: object, relationship), of: relationship.destination)
      }
    }
  }
}

extension Entity {
  /// The relationships whose partners an object cannot be without.
  fileprivate var needs: [Relationship] {
    properties.compactMap(\.relationship).filter { $0.isStored && ($0.isRequired || $0.minimumCount ?? 0 > 0) }
  }
}

extension String {
  /// Whether a format has the function `now()`, outside of the texts that it compares with.
  fileprivate var comparesWithNow: Bool {
    var quote: Character?
    var code = ""
    var isEscaped = false
    for character in self {
      if let open = quote {
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == open {
          quote = nil
        }
      } else if character == "'" || character == "\"" {
        quote = character
      } else {
        code.append(character)
      }
    }
    return code.contains("now()")
  }
}
