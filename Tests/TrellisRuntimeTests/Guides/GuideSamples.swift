import Foundation
import Testing
public import Trellis
import TrellisDiaryModel
import TrellisTestSupport

// The samples of Docs/GeneratedCode.md, block by block, each with what it is said to do.

extension EmotionDiary {
  var isLong: Bool { content.count > 200 }
}

func openDiary(at file: URL) throws -> PersistentContainer {
  try PersistentContainer(model: .diary, store: .sqlite(at: file))
}

public struct Address: CodableAttribute {
  public var street: String
  public var city: String
  public static let placeholder = Address(street: "", city: "")

  public init(street: String, city: String) {
    self.street = street
    self.city = city
  }
}

@Suite("The guide's samples") struct GuideSamples {
  private let file: StoreFile
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    file = try StoreFile()
    container = try openDiary(at: file.url)
    context = container.newContext()
  }

  /// A saved diary with one picture.
  private func makeDiary() throws -> (EmotionDiary, DiaryImage) {
    let diary = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
    let picture = DiaryImage(in: context, imagePath: "1.png", diary: diary)
    _ = Tag(in: context, name: "산책")
    try context.save()
    return (diary, picture)
  }

  @Test("what the guide says about work beside the main actor") func performing() async throws {
    let contents = try await container.perform { context in
      EmotionDiary(in: context, emotion: .calm, content: "비").mood = "조용함"
      try context.save()
      return try context.fetch(EmotionDiary.all).map(\.snapshot.content)
    }
    #expect(contents == ["비"])
  }

  @Test("what the guide says about relationships") func relationships() throws {
    let (diary, picture) = try makeDiary()
    #expect(!diary.isLong)
    picture.diary = nil
    // diary.images is empty now
    #expect(diary.images.isEmpty)
    picture.diary = diary
    // diary.images holds picture now
    #expect(diary.images.objects == [picture])
    try toMany(diary, picture)
  }

  private func toMany(_ diary: EmotionDiary, _ picture: DiaryImage) throws {
    let cover = DiaryImage(in: context, imagePath: "cover.png")
    diary.images.append(cover)
    diary.images.insert(cover, at: 0)
    diary.images.move(from: 0, to: 1)
    diary.images.remove(at: 1)
    diary.images = [cover, picture]
    diary.images.remove(cover)
    let paths = diary.images.map(\.imagePath)
    #expect(paths == ["1.png"])
  }

  @Test("what the guide says about saving and giving up") func saving() throws {
    let (diary, _) = try makeDiary()
    try context.save()
    diary.content = "비가 왔다"
    context.rollback()
    try context.refresh(diary)
    context.reset()
    #expect(diary.content == "산책하고 커피" && diary.managedObjectContext == nil)
  }

  @Test("what the guide says about deleting") func deleting() throws {
    let (diary, picture) = try makeDiary()
    try context.delete(diary)
    try context.save()
    #expect(diary.isDeleted && picture.isDeleted && diary.content == "산책하고 커피")
  }

  @Test("what the guide says about snapshots") func snapshots() throws {
    let (diary, _) = try makeDiary()
    diary.content = "저녁에 산책"
    let now: EmotionDiary.Snapshot = diary.snapshot
    let before: EmotionDiary.Snapshot? = diary.committed
    let json = try JSONEncoder().encode(now)
    let values = try context.snapshots(of: EmotionDiary.where { $0.emotion == .happy })
    #expect(before?.content == "산책하고 커피" && values == [now] && !json.isEmpty)
  }

  @Test("what the guide says about fetching") func fetching() throws {
    let (diary, _) = try makeDiary()
    let request = EmotionDiary.where {
      $0.emotion == .happy
      $0.content.contains("커피")
    }
    let happy = try context.fetch(request.sorted { $0.createdAt.descending }.limit(20))
    let latest = try context.first(request.sorted { $0.createdAt.descending })
    let number = try context.count(request)
    let isThere = try context.exists(request)
    let everything = try context.fetch(EmotionDiary.all)
    #expect(happy == [diary] && latest === diary && number == 1 && isThere && everything == [diary])
  }

  @Test("what the guide says about conditions") func conditions() throws {
    let (diary, picture) = try makeDiary()
    diary.tags = [try #require(try context.first(Tag.all))]
    picture.imagePath = "2026/1.png"
    let word = "커피"
    let found = EmotionDiary.where {
      $0.content.contains(word, .caseInsensitive) || $0.tags.any { $0.name == word }
      $0.images.none { $0.imagePath.hasSuffix(".gif") }
      !$0.tags.isEmpty
    }
    let pictures = DiaryImage.where {
      $0.diary.is(diary)
      $0.imagePath.hasPrefix("2026/")
    }
    #expect(try context.fetch(found) == [diary])
    #expect(try context.fetch(pictures) == [picture])
  }

  @Test("every condition of the guide's table can be asked") func table() throws {
    let (diary, picture) = try makeDiary()
    let tag = try #require(try context.first(Tag.all))
    #expect(try context.fetch(DiaryImage.where { $0.diary.emotion == .happy }) == [picture])
    #expect(try context.count(DiaryImage.where { $0.diary == nil || !($0.diary != nil) }) == 0)
    #expect(try context.count(DiaryImage.where { $0.diary.is(diary.objectID) && $0.diary.isIn([diary]) }) == 1)
    #expect(try context.count(EmotionDiary.where { $0.mood == nil && $0.content.equals("산책하고 커피", .normalized) }) == 1)
    #expect(try context.count(EmotionDiary.where { $0.mood != nil || $0.tags.contains(tag) }) == 0)
    let everyWay = EmotionDiary.where {
      $0.images.any { $0.imagePath == "1.png" }
      $0.images.all { $0.imagePath.hasPrefix("1") }
      $0.images.none { $0.imagePath.hasSuffix("gif", [.caseInsensitive, .diacriticInsensitive]) }
      $0.tags.count < 2
      $0.tags.isEmpty
      if let mood = diary.mood { $0.mood == mood }
      switch diary.emotion {
      case .happy: $0.content != ""
      default: $0.content == ""
      }
    }
    #expect(try context.fetch(everyWay) == [diary])
    try numbers()
  }

  private func numbers() throws {
    let shop = try PersistentContainer(model: .shop, store: .memory).newContext()
    let order = Order(in: shop, number: 2)
    let fitting = Order.where {
      $0.number == 2
      $0.number != 3
      $0.number == $0.number
      $0.number < 3 && $0.number <= 2 && $0.number > 1 && $0.number >= 2
      $0.number.isIn([1, 2]) && $0.number.isIn(1...3) && $0.number.isIn(1..<3)
      $0.isPaid == false
    }
    #expect(try shop.fetch(fitting) == [order])
    #expect(try shop.count(Order.where { $0.isPaid }) == 0)
  }

  @Test("what the guide says about sorting") func sorting() throws {
    let (_, picture) = try makeDiary()
    let feed = DiaryImage.all.sorted {
      $0.diary.createdAt.descending
      $0.imagePath
    }
    let names = Tag.all.sorted { $0.name.ascending(.caseInsensitive) }
    let secondPage = names.limit(20).offset(20)
    #expect(try context.fetch(feed) == [picture])
    #expect(try context.fetch(secondPage).isEmpty)
  }

  @Test("what the guide says about ids") func ids() async throws {
    let (diary, _) = try makeDiary()
    let id = diary.objectID
    try await container.perform { context in
      try context.object(with: id)?.content = "고쳤다"
      try context.save()
    }
    #expect(try container.newContext().first(EmotionDiary.all)?.content == "고쳤다")
  }

  @Test("what the guide says about errors") func errors() throws {
    _ = EmotionDiary(in: context, emotion: .sad, content: "")
    do {
      try context.save()
    } catch let error as ValidationError {
      for failure in error.failures { print(failure.property, failure.rule, failure.message) }
    } catch let error as StoreError where error.code == .busy {
      print(error.message, error.remedy)
    }
    let quiet = try PersistentContainer(model: .diary, store: .memory) { problem in
      if problem.code == .loadFailed { print(problem) }
    }
    #expect(try quiet.newContext().count(EmotionDiary.all) == 0)
  }

  @Test("what the guide says about conflicts") func conflicts() throws {
    let (diary, _) = try makeDiary()
    let other = container.newContext()
    try other.first(EmotionDiary.all)?.content = "theirs"
    diary.mood = "mine"
    try other.save()
    do {
      try context.save()
    } catch is SaveConflict {
      for object in context.updatedObjects { try context.refresh(object) }
      try context.save()
    }
    #expect(diary.content == "theirs" && diary.mood == "mine")
  }

  @Test("what the guide says about enums") func enums() throws {
    let (diary, _) = try makeDiary()
    switch diary.emotion {
    case .happy, .calm: print("a good day")
    case .sad, .angry: print("a bad day")
    case .unknown(let value): print("a newer program wrote \(value.rawValue)")
    }
    #expect(Emotion(stored: "happy") == .happy)
  }

  @Test("what the guide says about structs, lists and inheritance") func shop() throws {
    let shop = try PersistentContainer(model: .shop, store: .memory).newContext()
    let customer = Customer(in: shop, name: "Ada", home: Address(street: "Main Street", city: "London"))
    customer.home.city = "Cambridge"
    let movers = try shop.fetch(Customer.where { $0.home == customer.home })
    #expect(movers == [customer])
    customer.nicknames.append("Countess")
    let order = GiftOrder(in: shop, number: 1, greeting: "생일 축하해", customer: customer)
    for order in try shop.fetch(Order.where { $0.customer.is(customer) }) {
      print(order.number, (order as? GiftOrder)?.greeting ?? "no greeting")
    }
    #expect(customer.orders.objects == [order])
  }
}

@Suite("The guide to generated code") struct GeneratedCodeGuideTests {
  @Test("every sample of the guide is among those that are compiled and run")
  func compiled() throws { #expect(try GuideText("GeneratedCode.md").samples(missingFrom: #filePath) == []) }
}
