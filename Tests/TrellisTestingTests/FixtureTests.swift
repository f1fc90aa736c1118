import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisReceiptMindModel
import TrellisTestSupport
import TrellisTesting

/// Swift Testing has a type of this name, too.
typealias Tag = TrellisDiaryModel.Tag

@Suite("Fixtures") struct FixtureTests {
  private let context: ManagedObjectContext

  init() throws { context = try PersistentContainer(model: .diary, store: .memory).newContext() }

  @Test("a file beside the test has its objects by name, with values, defaults and partners in their order")
  func file() throws {
    let diaries = try Fixture("Diaries.json").insert(into: context)
    let walk: EmotionDiary = try diaries["walk"]
    #expect(walk.emotion == .happy && walk.content == "산책하고 커피" && walk.mood == nil)
    #expect(walk.createdAt == Date(timeIntervalSince1970: 1_769_763_600))
    #expect(walk.images.map(\.imagePath) == ["harbour.png", "cup.png"])
    #expect(try diaries["harbour", as: DiaryImage.self].data == Data("harbour".utf8))
    let coffee: Tag = try diaries["coffee"]
    #expect(coffee.diaries.objects == [walk] && walk.tags.contains(coffee))
    #expect("\(diaries)" == "6 objects of Diaries.json" && context.insertedObjects.count == 6)
    try context.save()
    #expect(try context.fetch(EmotionDiary.all.sorted { $0.createdAt.descending }).map(\.content) == ["비", "산책하고 커피"])
  }

  @Test("a fixture can be inserted again, into a context of its own")
  func again() throws {
    let fixture = try Fixture("Diaries.json")
    for _ in 0..<2 {
      let context = try PersistentContainer(model: .diary, store: .memory).newContext()
      try fixture.insert(into: context)
      try context.save()
      #expect(try context.count(EmotionDiary.all) == 2)
    }
  }

  @Test("a name that the fixture does not have is an error with the nearest one")
  func names() throws {
    let diaries = try Fixture("Diaries.json").insert(into: context)
    let misspelt = try #require(throws: FixtureError.self) { try diaries["wlak", as: EmotionDiary.self] }
    #expect("\(misspelt)" == "Diaries.json: there is no EmotionDiary 'wlak'; did you mean 'walk'?")
    let other = try #require(throws: FixtureError.self) { try diaries["walk", as: Tag.self] }
    #expect("\(other)" == "Diaries.json: there is no Tag 'walk'.")
    let foreign = try #require(throws: FixtureError.self) { try diaries["walk", as: Receipt.self] }
    #expect(foreign.line == nil && foreign.localizedDescription == "\(foreign)")
  }

  @Test(
    "a mistake is an error with its place, and nothing is inserted",
    arguments: [
      (#"{"EmotionDairy": {}}"#, "1:2: Diary has no entity 'EmotionDairy'; did you mean 'EmotionDiary'?"),
      ("{\"Tag\": {\n  \"a\": {\"nmae\": \"x\"}}}", "2:9: Tag has no property 'nmae'; did you mean 'name'?"),
      (#"{"Tag": {"a": {}}}"#, "1:10: Tag.name needs a value: it is neither optional nor has a default."),
      (#"{"Tag": {"a": {"name": 3}}}"#, "1:24: Tag.name must be a text."),
      (#"{"Tag": {"a": {"name": "x", "name": "y"}}}"#, "1:29: Tag.name is given already."),
      (#"{"Tag": {"a": {"name": "x"}, "a": {"name": "y"}}}"#, "1:30: another object has the name 'a' already."),
      (
        #"{"Tag": {"sea": {"name": "x"}}, "EmotionDiary": {"a": {"emotion": "sad", "content": "c", "tags": ["see"]}}}"#,
        "1:99: EmotionDiary.tags: there is no Tag 'see'; did you mean 'sea'?"
      ),
      (
        #"{"EmotionDiary": {"a": {"emotion": "sad", "content": "c", "tags": "sea"}}}"#,
        "1:67: EmotionDiary.tags must be a list of names of objects."
      ),
      (
        #"{"EmotionDiary": {"a": {"emotion": "sad", "content": "c", "createdAt": "yesterday"}}}"#,
        "1:72: EmotionDiary.createdAt must be"
      ),
      (#"{"Tag": {"a": {"name": "x"}}"#, "1:29: here a ',' or '}' should be, but the file ends."),
      (#"[]"#, "1:1: here an object of entities should be."),
      (
        #"""
        {"EmotionDiary": {"a": {"emotion": "sad", "content": "c", "images": ["i"]},
                          "b": {"emotion": "sad", "content": "d", "images": ["i"]}}, "DiaryImage": {"i": {"imagePath": "p"}}}
        """#, "1:69: EmotionDiary.images: 'i' is with another object, which names it as well."
      ),
    ])
  func mistakes(_ document: String, _ message: String) throws {
    let fixture = Fixture(Data(document.utf8), named: "a.json")
    let mistake = try #require(throws: FixtureError.self) { try fixture.insert(into: context) }
    #expect("\(mistake)".hasPrefix("a.json:\(message)"), "\(mistake)")
    #expect(!context.hasChanges && context.insertedObjects.isEmpty)
    #expect(try context.count(Tag.all) == 0)
  }

  @Test("composites are objects of their fields, with the defaults of the model, and decimals keep their digits")
  func composites() throws {
    let context = try PersistentContainer(model: .receiptMind, store: .memory).newContext()
    let document = """
      {
        "Ledger": { "home": { "name": "Home" } },
        "Category": { "food": { "kind": "expense", "name": "Food", "ledger": "home" } },
        "Receipt": {
          "lunch": { "kind": "expense", "price": { "amount": "9.95" }, "category": "food", "ledger": "home" }
        }
      }
      """
    let books = try Fixture(Data(document.utf8)).insert(into: context)
    let lunch: Receipt = try books["lunch"]
    #expect(lunch.price.amount == Decimal(string: "9.95") && lunch.price.currency == .krw)
    try context.save()
    #expect(try books["home", as: Ledger.self].categories.map(\.name) == ["Food"])
    let wrong = Fixture(Data(document.replacing("amount", with: "amuont").utf8))
    let mistake = try #require(throws: FixtureError.self) { try wrong.insert(into: context) }
    #expect("\(mistake)" == "fixture:5:46: Receipt.price has no field 'amuont'; did you mean 'amount'?", "\(mistake)")
  }

  @Test("a document that was damaged anywhere is refused with its place and inserts nothing, or is read as a whole")
  func damaged() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Diaries.json")
    let whole = Array(try Data(contentsOf: file))
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let marks = Array("{}[]\",:\\ 0n\u{0}".utf8) + [0xFF, 0xEA]
    var (refused, read) = (0, 0)
    for round in 0..<(TestSettings.isLong ? 5_000 : 400) {
      var bytes = whole
      for _ in 0...random.below(3) {
        let place = random.below(bytes.count)
        switch random.below(4) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(marks[random.below(marks.count)], at: place)
        case 2: bytes[place] = marks[random.below(marks.count)]
        default: bytes.swapAt(place, random.below(bytes.count))
        }
      }
      let name = "seed \(seed), round \(round)"
      do {
        let objects = try Fixture(Data(bytes)).insert(into: context)
        #expect("\(objects)".hasPrefix("\(context.insertedObjects.count) object"), "\(name)")
        context.rollback()
        read += 1
      } catch let mistake as FixtureError {
        #expect(mistake.line ?? 0 > 0 && mistake.column ?? 0 > 0 && mistake.line ?? 0 <= 20, "\(name): \(mistake)")
        #expect(context.insertedObjects.isEmpty && !context.hasChanges, "\(name): \(mistake)")
        refused += 1
      }
    }
    #expect(refused > 100 && read > 0)
  }

  @Test("random objects that are written as a fixture are the same ones when it is inserted", arguments: [1, 2, 3])
  func roundTrip(_ number: UInt64) throws {
    try context.seed(15, seed: number)
    let diaries = try context.fetch(EmotionDiary.all)
    func name(_ object: ManagedObject) -> String { "\(object)" }
    func day(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
    let document: [String: [String: [String: Any]]] = [
      "EmotionDiary": Dictionary(
        uniqueKeysWithValues: diaries.map { diary in
          (
            name(diary),
            [
              "id": diary.id.uuidString, "emotion": diary.emotion.rawValue, "content": diary.content,
              "createdAt": day(diary.createdAt), "mood": diary.mood ?? NSNull() as Any,
              "images": diary.images.map(name), "tags": diary.tags.map(name),
            ]
          )
        }),
      "DiaryImage": Dictionary(
        uniqueKeysWithValues: try context.fetch(DiaryImage.all).map { image in
          (
            name(image),
            ["imagePath": image.imagePath, "data": image.data?.base64EncodedString() ?? NSNull() as Any]
          )
        }),
      "Tag": Dictionary(uniqueKeysWithValues: try context.fetch(Tag.all).map { (name($0), ["name": $0.name]) }),
    ]
    let other = try PersistentContainer(model: .diary, store: .memory).newContext()
    let copies = try Fixture(try JSONSerialization.data(withJSONObject: document)).insert(into: other)
    try other.save()
    #expect(try other.count(EmotionDiary.all) == diaries.count, "seed \(number)")
    for diary in diaries {
      let copy = try copies[name(diary), as: EmotionDiary.self]
      #expect(copy.id == diary.id && copy.emotion == diary.emotion && copy.content == diary.content, "seed \(number)")
      #expect(copy.mood == diary.mood && day(copy.createdAt) == day(diary.createdAt), "seed \(number)")
      #expect(copy.images.map(\.imagePath) == diary.images.map(\.imagePath), "seed \(number)")
      #expect(copy.images.map(\.data) == diary.images.map(\.data), "seed \(number)")
      #expect(copy.tags.map(\.name).sorted() == diary.tags.map(\.name).sorted(), "seed \(number)")
    }
  }
}
