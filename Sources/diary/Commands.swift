import TrellisDiaryModel
import Foundation
import Trellis

/// A real diary in a file: `add`, `list`, `search`, `images`, `latest`, `delete`.
@MainActor struct Commands {
  /// What was typed makes no sense; the text says what would.
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  private static let usage = """
    usage: diary                                     play the story on a fresh file
           diary add EMOTION TEXT [--tag NAME]… [--image PATH]…
           diary list [EMOTION]                      newest first
           diary search WORD                         in the text and in the tags
           diary images [EMOTION]                    every picture with its day
           diary latest EMOTION
           diary delete NUMBER                       as shown by list
    The diary is kept in diary.db, or in the file that the environment variable DIARY_FILE names.
    EMOTION is one of \(Emotion.allCases.map(\.rawValue).joined(separator: ", ")).
    """

  private let command: String
  private let arguments: [String]

  init(_ arguments: [String]) {
    command = arguments.first ?? ""
    self.arguments = Array(arguments.dropFirst())
  }

  func run() throws {
    switch command {
    case "add": try add()
    case "list": try list()
    case "search": try search()
    case "images": try images()
    case "latest": try latest()
    case "delete": try delete()
    case "help", "--help", "-h": print(Self.usage)
    default: throw Mistake(description: "diary: there is no command '\(command)'.\n\(Self.usage)")
    }
  }

  private func open() throws -> PersistentContainer {
    let path = ProcessInfo.processInfo.environment["DIARY_FILE"] ?? "diary.db"
    return try PersistentContainer(model: .diary, store: .sqlite(at: URL(fileURLWithPath: path)))
  }

  // MARK: Commands

  private func add() throws {
    let words = try Words(arguments)
    guard words.plain.count == 2 else {
      throw Mistake(description: "diary: add takes an emotion and a text.\n\(Self.usage)")
    }
    let context = try open().mainContext
    let diary = EmotionDiary(in: context, emotion: try emotion(words.plain[0]), content: words.plain[1])
    for path in words.images { diary.images.append(DiaryImage(in: context, imagePath: path)) }
    for name in words.tags {
      let known = try context.first(Tag.where { $0.name == name })
      diary.tags.append(known ?? Tag(in: context, name: name))
    }
    try context.save()
    show(diary)
  }

  private func list() throws {
    let context = try open().mainContext
    var request = EmotionDiary.all.sorted { $0.createdAt.descending }
    if let name = arguments.first {
      let emotion = try emotion(name)
      request = request.where { $0.emotion == emotion }
    }
    try context.fetch(request).forEach(show)
  }

  private func search() throws {
    let word = try word("search takes a word")
    let context = try open().mainContext
    let request = EmotionDiary.where {
      $0.content.contains(word, .caseInsensitive) || $0.tags.any { $0.name.contains(word, .caseInsensitive) }
    }
    try context.fetch(request.sorted { $0.createdAt.descending }).forEach(show)
  }

  private func images() throws {
    let context = try open().mainContext
    var request = DiaryImage.all.sorted { $0.diary.createdAt.descending }
    if let name = arguments.first {
      let emotion = try emotion(name)
      request = request.where { $0.diary.emotion == emotion }
    }
    for image in try context.fetch(request) { print("\(image.imagePath)  \(image.diary?.content ?? "-")") }
  }

  private func latest() throws {
    let emotion = try emotion(word("latest takes an emotion"))
    let context = try open().mainContext
    let request = EmotionDiary.where { $0.emotion == emotion }.sorted { $0.createdAt.descending }
    if let diary = try context.first(request) { show(diary) } else { print("none yet") }
  }

  private func delete() throws {
    guard let key = Int64(try word("delete takes a number")) else {
      throw Mistake(description: "diary: delete takes the number that list shows.")
    }
    let context = try open().mainContext
    guard let diary = try context.fetch(EmotionDiary.all).first(where: { $0.objectID.key == key }) else {
      throw Mistake(description: "diary: there is no entry \(key).")
    }
    try context.delete(diary)
    try context.save()
    print("deleted, with its pictures")
  }

  // MARK: Words

  private func word(_ otherwise: String) throws -> String {
    guard let first = arguments.first else { throw Mistake(description: "diary: \(otherwise).\n\(Self.usage)") }
    return first
  }

  private func emotion(_ name: String) throws -> Emotion {
    guard let emotion = Emotion.allCases.first(where: { $0.rawValue == name }) else {
      let names = Emotion.allCases.map(\.rawValue).joined(separator: ", ")
      throw Mistake(description: "diary: '\(name)' is no emotion; there are \(names).")
    }
    return emotion
  }

  private func show(_ diary: EmotionDiary) {
    let tags = diary.tags.map { "#\($0.name)" }.sorted().joined(separator: " ")
    let pictures = diary.images.isEmpty ? "" : "  (\(diary.images.count) pictures)"
    let day = diary.createdAt.formatted(.iso8601.year().month().day())
    print("\(diary.objectID.key)  \(day)  \(diary.emotion.rawValue.padded(6)) \(diary.content)  \(tags)\(pictures)")
  }
}

/// The words after `add`, sorted by what they are.
private struct Words {
  var plain: [String] = []
  var tags: [String] = []
  var images: [String] = []

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--tag": tags.append(try Self.value(of: word, &rest))
      case "--image": images.append(try Self.value(of: word, &rest))
      default: plain.append(word)
      }
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw Commands.Mistake(description: "diary: \(option) takes a value.") }
    return value
  }
}
