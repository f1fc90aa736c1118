import Foundation
import Observation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// Changes of all kinds to a file whose objects have stored derived attributes.
///
/// `TRELLIS_DERIVED` is the number of runs, `TRELLIS_DERIVED_SEED` the first seed.
@Suite("Stored derived attributes by chance") struct RandomStoredDerivationTests {
  private static let runs: Int = TestSettings.number("TRELLIS_DERIVED", or: 8)
  private static let first: UInt64 = TestSettings.number("TRELLIS_DERIVED_SEED", or: 1)

  @Test(
    "whatever writes, each kept value is that of its expression, and requests are those of memory",
    arguments: StoreKind.inPlace.filter { $0 != .memory })
  func writers(_ kind: StoreKind) throws {
    for seed in Self.first..<(Self.first + UInt64(Self.runs)) {
      var run = try KeptRun(seed, kind)
      do {
        try run.run(steps: 60)
      } catch {
        Issue.record("\(kind), seed \(seed), after \(run.log.suffix(12)): \(error)")
      }
    }
  }
}

private struct Fault: Error, CustomStringConvertible {
  let description: String
}

/// A store that keeps the values, and memory that is changed in the same way.
private struct KeptRun {
  private let kept: TestContainer
  private let memory: TestContainer
  private let contexts: [ManagedObjectContext]
  private var random: SeededGenerator
  private(set) var log: [String] = []
  private var count = 0

  init(_ seed: UInt64, _ kind: StoreKind) throws {
    random = SeededGenerator(seed: seed)
    kept = try TestContainer(.kept, kind)
    memory = try TestContainer(.kept, .memory)
    contexts = [kept.container.newContext(), memory.container.newContext()]
  }

  mutating func run(steps: Int) throws {
    for step in 0..<steps {
      let start = random
      var ends: [SeededGenerator] = []
      let name = "x\(count)"
      count += 1
      for context in contexts {
        random = start
        try change(context, name)
        ends.append(random)
      }
      if step % 3 == 2 {
        for context in contexts { try context.save() }
        try compare()
      }
    }
  }

  private mutating func one<Object>(_ all: [Object], _ name: (Object) -> String) -> Object? {
    let sorted = all.sorted(by: { name($0) < name($1) })
    let place = random.below(1_000)
    return sorted.isEmpty ? nil : sorted[place % sorted.count]
  }

  private mutating func receipt(_ context: ManagedObjectContext) throws -> Sale? {
    try one(context.fetch(Sale.all)) { $0.title }
  }

  private mutating func change(_ context: ManagedObjectContext, _ name: String) throws {
    let action = random.below(24)
    if context === contexts[0] { log.append("\(action) \(name)") }
    let amount = Decimal(random.below(9))
    let flag = random.below(2) == 0
    switch action {
    case 0, 1:
      let receipt =
        flag
        ? Sale(
          in: context, title: name, day: Date(timeIntervalSince1970: Double(random.below(9)) * 1_000_000), isPaid: flag)
        : Present(in: context, title: name, day: Date(timeIntervalSince1970: 0), isPaid: flag, wrapping: name)
      receipt.shop = try one(context.fetch(Stall.all)) { $0.name }
      for number in 0..<random.below(3) {
        receipt.lines.append(Part(in: context, text: "\(name).\(number)", price: amount))
      }
    case 2: _ = Stall(in: context, name: name)
    case 3: _ = Label(in: context, name: name)
    case 4: _ = Ware(in: context, name: name, price: amount)
    case 5: try receipt(context)?.lines.append(Part(in: context, text: name, price: amount))
    case 6: try one(context.fetch(Part.all)) { $0.text }?.price = amount
    case 7:
      let line = try one(context.fetch(Part.all)) { $0.text }
      line?.receipt = try receipt(context)
    case 8: if let line = try one(context.fetch(Part.all), { $0.text }) { try context.delete(line) }
    case 9: if let receipt = try receipt(context) { try context.delete(receipt) }
    case 10:
      let shop = try one(context.fetch(Stall.all)) { $0.name }
      try receipt(context)?.shop = flag ? shop : nil
    case 11: try one(context.fetch(Stall.all)) { $0.name }?.rate = amount
    case 12:
      if let tag = try one(context.fetch(Label.all), { $0.name }) { try receipt(context)?.tags.append(tag) }
    case 13:
      let receipt = try receipt(context)
      if let tag = receipt?.tags.min(by: { $0.name < $1.name }) { receipt?.tags.remove(tag) }
    case 14:
      if let receipt = try receipt(context) {
        if let note = receipt.note { try context.delete(note) }
        receipt.note = flag ? nil : Slip(in: context, text: name)
      }
    case 15: try one(context.fetch(Slip.all)) { $0.text }?.text = name
    case 16:
      let line = try one(context.fetch(Part.all)) { $0.text }
      line?.product = try one(context.fetch(Ware.all)) { $0.name }
    case 17: try one(context.fetch(Ware.all)) { $0.name }?.price = amount
    case 18:
      let receipt = try receipt(context)
      if let count = receipt?.lines.count, count > 1 { receipt?.lines.move(from: count - 1, to: 0) }
    case 19:
      try context.save()
      _ = try context.updateAll(Part.where { $0.price < amount }) { $0.price.increase(by: 1) }
    case 20:
      try context.save()
      if flag {
        _ = try context.deleteAll(Sale.where { $0.total < amount })
      } else {
        _ = try context.deleteAll(Part.where { $0.price == amount })
      }
    case 21:
      let tag = try one(context.fetch(Label.all)) { $0.name }
      if let other = try one(context.fetch(Label.all), { $0.name }) { tag?.friends.append(other) }
      if let gift = try one(context.fetch(Present.all), { $0.title }), let tag { gift.others.append(tag) }
    case 22: if let shop = try one(context.fetch(Stall.all), { $0.name }) { try context.delete(shop) }
    default:
      let receipt = try receipt(context)
      receipt?.isPaid.toggle()
      receipt?.weight = flag ? nil : Double(random.below(9)) / 4
      receipt?.title = name
    }
  }

  // MARK: Comparing

  private mutating func compare() throws {
    let findings = try kept.container.check()
    if !findings.isEmpty { throw Fault(description: "the store has \(findings)") }
    let answers = try [kept, memory].map { try Self.answers($0.container.newContext()) }
    if answers[0] != answers[1] {
      let place = answers[0].indices.first { answers[0][$0] != answers[1][$0] } ?? 0
      throw Fault(description: "the store answers \(answers[0][place]), memory \(answers[1][place])")
    }
  }

  private static func answers(_ context: ManagedObjectContext) throws -> [[String]] {
    let receipts = try context.fetch(
      Sale.all.sorted {
        $0.total.descending; $0.title
      })
    var answers = [
      receipts.map {
        "\($0.title) \(String(describing: $0.total)) \($0.lineCount) \($0.heading) \($0.shopName ?? "-") "
          + "\(String(describing: $0.worth)) \(String(describing: $0.month)) \($0.firstText ?? "-") \($0.lastTag ?? "-") "
          + "\($0.memo ?? "-") \($0.isLarge) \(String(describing: $0.half)) \($0.products) \($0.level)"
      }
    ]
    let formats: [PredicateFormat] = [
      "total > 5", "heading BEGINSWITH 'X1' AND lineCount >= 1", "worth == nil OR shopName == 'x2'", "isLarge == YES",
      "memo != 'none' AND level == 'low'", "ANY lines.share > 2", "products > 0",
      "shop.sum > 3 OR shop.receiptCount == 0",
      "ANY tags.uses > 1", "firstText ENDSWITH '.0'", "half >= 0.5 AND month < CAST('1970-03-01T00:00:00Z', 'NSDate')",
      "ANY lines.rival > 1", "lines.@max.productName != nil", "ANY tags.cost > 10 OR ANY tags.friendNames == 'x3'",
    ]
    for format in formats {
      answers.append(
        try context.fetch(
          Sale.where(format).sorted {
            $0.worth; $0.title.descending
          }
        ).map(\.title))
    }
    answers.append(try context.fetch(Present.where("wrapped != nil OR sister > 0").sorted { $0.title }).map(\.title))
    answers.append(
      try context.grouped(Sale.all, by: { $0.isLarge }) { ($0.count, $0.worth.sum) }.map { "\($0)" })
    answers.append(
      try context.values(
        of: Stall.all.sorted {
          $0.dear; $0.name
        }
      ) { ($0.name, $0.sum, $0.receiptCount) }
      .map { "\($0)" })
    return answers
  }
}

@Suite("Stored derived attributes") struct StoredDerivationTests {
  private func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<20 {
      let receipt = Sale(in: context, title: "r\(number)", day: Date(timeIntervalSince1970: 0), isPaid: true)
      for place in 0..<(number % 4) {
        receipt.lines.append(Part(in: context, text: "\(number).\(place)", price: Decimal(number)))
      }
    }
    try context.save()
  }

  @Test("conditions and sorts are served by the index") func index() throws {
    let file = try TestContainer(.kept, .sqlite)
    let context = file.container.newContext()
    try fill(context)
    let counted = try context.explain(Sale.where { $0.lineCount == 2 }.sorted { $0.title }.limit(3))
    #expect(counted.steps.contains { $0.contains("_derived.index.Sale.lineCount.title") }, "\(counted)")
    let named = try context.explain(Sale.where { $0.heading == "R3!" })
    #expect(named.steps.contains { $0.contains("_derived.index.Sale.heading.day") }, "\(named)")
    let advised = try context.explain(Sale.where { $0.shopName == "a" }.sorted { $0.half })
    #expect(advised.missingIndex?.properties == ["shopName", "half"])
    let largest = try context.fetch(Sale.all.sorted { $0.total.descending }.limit(3)).map(\.title)
    #expect(largest == ["r19", "r15", "r18"])
  }

  /// A file of its own, and containers that open it one after the other.
  private struct File {
    let folder: TestFolder
    var url: URL { folder.file("kept.db") }

    init() throws { folder = try TestFolder() }

    func open(_ model: ObjectModel = .kept, readOnly: Bool = false) throws -> PersistentContainer {
      try PersistentContainer(model: model, store: .sqlite(at: url, durability: .relaxed, readOnly: readOnly))
    }
  }

  @Test("what another program writes counts from the next save, and from the next opening") func otherProgram() throws {
    let file = try File()
    let container = try file.open()
    let context = container.newContext()
    try fill(context)
    func count(_ context: ManagedObjectContext) throws -> Int { try context.count(Sale.where { $0.heading == "NEW!" }) }
    let other = try OtherProgram(file.url)
    try other.run("UPDATE Sale SET title = 'new' WHERE title = 'r4'")
    #expect(try !other.texts("SELECT key FROM _derivedMarks").isEmpty)
    _ = Stall(in: context, name: "s")
    try context.save()
    #expect(try count(context) == 1)
    #expect(try other.texts("SELECT key FROM _derivedMarks").isEmpty)
    container.close()

    try other.run("UPDATE Sale SET title = 'new' WHERE title = 'r5'; DELETE FROM Part WHERE price = 7")
    // A container that may not write computes the values instead.
    let reader = try file.open(readOnly: true)
    #expect(try count(reader.newContext()) == 2)
    reader.close()
    let again = try file.open()
    #expect(try count(again.newContext()) == 2)
    #expect(try other.texts("SELECT \"_derived.Sale.lineCount\" FROM Sale WHERE title = 'r7'") == ["0"])
    #expect(try again.check().isEmpty)
  }

  @Test("a wrong value is found, and the advice mends it") func wrong() throws {
    let file = try File()
    var container = try file.open()
    try fill(container.newContext())
    let other = try OtherProgram(file.url)
    try other.run("UPDATE Sale SET \"_derived.Sale.heading\" = 'wrong' WHERE title = 'r3'")
    let finding = try #require(try container.check().first)
    #expect(finding.code == .indexDiffers && finding.properties == ["heading"] && finding.entity == "Sale")
    #expect(finding.repair.contains("_derivedMarks"))
    try other.run("DROP TABLE _derivedMarks")
    container.close()
    container = try file.open()
    #expect(try container.check().isEmpty)
    #expect(try container.newContext().count(Sale.where { $0.heading == "R3!" }) == 1)
    try other.run("DROP TRIGGER \"_derived.Part.update\"")
    #expect(try container.check().map(\.code) == [.indexDiffers])
  }

  @Test("a new value is no change of the object: no version, no conflict, no entry in the history") func noChange()
    throws
  {
    let file = try File()
    let container = try file.open()
    let (one, two) = (container.newContext(), container.newContext())
    try fill(one)
    let mine = try #require(try one.fetch(Sale.where { $0.title == "r2" }).first)
    let theirs = try #require(try two.fetch(Part.where { $0.text == "2.0" }).first)
    mine.weight = 3
    theirs.price = 500
    try two.save()
    try one.save()
    #expect(mine.total == 502)
    #expect(try one.fetch(Sale.all.sorted { $0.total.descending }.limit(1)) == [mine])
    let other = try OtherProgram(file.url)
    #expect(try other.texts("SELECT \"_version\" FROM Sale WHERE title = 'r2'") == ["2"])
  }

  @Test("a request as of a moment computes the former values") func past() throws {
    var description = ObjectModel.kept.description
    description.history = .values
    let file = try File()
    let container = try file.open(ObjectModel(dynamic: description))
    let context = container.newContext()
    let sale = try context.insert(
      "Sale", ["title": .text("a"), "day": .integer(0), "isPaid": .integer(1)])
    try context.save()
    let then = try container.historyToken()
    try sale.set("title", .text("b"))
    try context.save()
    let past = try container.newContext(asOf: then)
    #expect(try past.objects("Sale", where: "heading == 'A!'").count == 1)
    #expect(try context.objects("Sale", where: "heading == 'A!'").isEmpty)
    #expect(try context.objects("Sale", where: "heading == 'B!'").count == 1)
    #expect(try container.check().isEmpty)
  }

  @Test("a change behind several relationships is observed") func observation() throws {
    let context = try TestContainer(.kept).container.newContext()
    context.isObserving = true
    let stall = Stall(in: context, name: "s")
    let sale = Sale(in: context, title: "a", day: .now, isPaid: true, shop: stall)
    let part = Part(in: context, text: "p", price: 1, receipt: sale)
    func isObserved(_ read: () -> Void, _ change: () -> Void) -> Bool {
      let flag = Flag()
      withObservationTracking(read) { flag.isSet = true }
      change()
      return flag.isSet
    }
    #expect(isObserved({ _ = part.rival }, { _ = Sale(in: context, title: "b", day: .now, isPaid: true, shop: stall) }))
    #expect(isObserved({ _ = stall.dear }, { part.price = 9 }))
    #expect(isObserved({ _ = stall.dear }, { _ = Part(in: context, text: "q", price: 1, receipt: sale) }))
    #expect(isObserved({ _ = part.rival }, { sale.shop = nil }))
  }

  private final class Flag: @unchecked Sendable {  // used by one test at a time
    var isSet = false
  }

  // MARK: Migration

  private func model(_ attributes: [AttributeDescription], indexes: [IndexDescription] = []) -> ObjectModel {
    ObjectModel(
      dynamic: ModelDescription(
        name: "Moved",
        entities: [
          EntityDescription(
            "Thing",
            attributes: [AttributeDescription("name", .string), AttributeDescription("size", .int64)] + attributes,
            indexes: indexes)
        ]))
  }

  private func total(_ text: String, stored: Bool = true) -> AttributeDescription {
    AttributeDescription("total", .int64, optional: true, derived: text, stored: stored)
  }

  @Test("a migration brings the column, another expression, and the column's end") func migration() throws {
    let file = try File()
    let models = [
      model([]), model([total("size + 1")], indexes: [IndexDescription([.init("total")])]), model([total("size * 3")]),
      model([total("size * 3", stored: false)]), model([total("length(name)")]),
      model([
        AttributeDescription("total", .int64, optional: true, backfill: .expression("size"))
      ]),
    ]
    let expected: [Int?] = [nil, 6, 15, 15, 4, 5]
    for (model, value) in zip(models, expected) {
      let container = try file.open(model)
      defer { container.close() }
      let context = container.newContext()
      if value == nil {
        _ = try context.insert("Thing", ["name": .text("five"), "size": .integer(5)])
        try context.save()
      } else if let value {
        #expect(try context.objects("Thing", where: "total == \(value)").count == 1)
      }
      #expect(try container.check().isEmpty)
      let columns = try OtherProgram(file.url).texts("SELECT name FROM pragma_table_info('Thing')")
      let isKept = model.description.entities[0].attributes.last?.storesDerivation == true
      #expect(columns.contains("_derived.Thing.total") == isKept)
    }
  }

  @Test("a program whose model has another expression does not write wrong values") func olderProgram() throws {
    let file = try File()
    let old = try file.open(model([total("size + 1")]))
    let context = old.newContext()
    _ = try context.insert("Thing", ["name": .text("a"), "size": .integer(1)])
    try context.save()
    let new = try file.open(model([total("size + 2")]))
    _ = try context.insert("Thing", ["name": .text("b"), "size": .integer(2)])
    #expect(throws: StoreError.self) { try context.save() }
    #expect(try new.newContext().objects("Thing", where: "total == 3").count == 1)
  }
}
