import Trellis
import TrellisTestSupport

/// A container with several contexts that write it, and what its store holds.
final class Village {
  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  /// How much is compared.
  enum Scrutiny: Int {
    /// Only how saves end, and what the store says of itself.
    case ends
    /// What saves leave in the store, too.
    case saves
    case everything
  }

  let container: PersistentContainer
  let rules: Rules
  let plan: VillagePlan
  private let scrutiny: Scrutiny
  /// What debug builds find after operations.
  let findings: LinkFindings?
  private(set) var writers: [Writer] = []
  /// The entity of each object, by number; the first is none.
  private(set) var entities: [String] = [""]
  private var keys: [Int64] = [0]
  private var numbers: [Int64: Int] = [:]
  /// How often the store was written.
  private(set) var version = 1
  /// The version of ``stored``.
  private var storedVersion = 0
  private var stored = Picture(objects: [])
  /// What the store has held, by version.
  private var past: [(version: Int, picture: Picture)] = []

  init(
    _ container: PersistentContainer, _ rules: Rules, _ plan: VillagePlan, _ scrutiny: Scrutiny = .everything,
    findings: LinkFindings? = nil
  ) {
    self.scrutiny = scrutiny
    self.findings = findings
    self.container = container
    self.rules = rules
    self.plan = plan
    for number in 0..<plan.writers {
      writers.append(Writer(self, number, plan.parents[number].map { writers[$0] }))
    }
  }

  /// The number that the next new object gets.
  var nextNumber: Int { entities.count }

  func note(_ object: ManagedObject, _ entity: String, as number: Int) {
    while entities.count <= number {
      entities.append("")
      keys.append(0)
    }
    entities[number] = entity
    keys[number] = object.number
    numbers[object.number] = number
  }

  func number(of key: Int64) -> Int { numbers[key] ?? -1 }

  func find(_ number: Int, in context: ManagedObjectContext, onlyRegistered: Bool = false) throws -> ManagedObject? {
    guard keys.indices.contains(number), keys[number] != 0 else { return nil }
    let access = try VillageTable.access(entities[number])
    return onlyRegistered ? access.registered(context, keys[number]) : try access.find(context, keys[number])
  }

  func isKind(_ number: Int, of entity: String) -> Bool {
    entities.indices.contains(number) && rules.shapes.isKind(entities[number], of: entity)
  }

  // MARK: The store

  func noteWritten() { version += 1 }

  /// What a fresh context reads.
  func truth() throws -> Picture {
    if storedVersion != version {
      stored = try readStore()
      storedVersion = version
      past.append((version, stored))
    }
    while stored.objects.count < entities.count { stored.objects.append(nil) }
    return stored
  }

  /// The states of an object that the store has held until a version.
  func past(of number: Int, until version: Int) -> [Picture.Object] {
    past.filter { $0.version <= version && $0.picture.objects.indices.contains(number) }
      .compactMap { $0.picture.objects[number] }
  }

  func readStore() throws -> Picture {
    let reader = Writer(self, -1)
    for entity in plan.entities where rules.shapes.lineages[entity]?.count == 1 { try reader.fetch(entity) }
    return try reader.picture()
  }

  /// Whether what contexts have in memory is compared.
  var comparesMemory: Bool { scrutiny == .everything }

  /// Whether what saves leave in the store is compared.
  var checksSaves: Bool { scrutiny != .ends }

  /// Compares what a context shows with the store.
  func look(at writer: Writer) throws { if comparesMemory { try WriterCheck(self, writer).run() } }

  /// What is to be looked at after a save.
  func check(before policy: MergePolicy, of writer: Writer, _ look: Act.Look) throws -> SaveCheck? {
    // What the parent of a child takes over in a save is no edit of the child's.
    writer.parent?.context.mergeChanges()
    return checksSaves ? try SaveCheck(self, writer, policy, hasMerged: look == .mergedBefore) : nil
  }

  /// What the container finds wrong with its store.
  func checkStore() throws {
    // Members that two contexts have put at one place are no fault; the check cannot tell them from others.
    let findings = try container.check()
    if !findings.isEmpty {
      throw Difference(description: "the store: \(findings.map(\.description).joined(separator: "; "))")
    }
  }
}
