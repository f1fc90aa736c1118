import Foundation
import Trellis
import TrellisDiaryModel

/// A real diary in a file: `add`, `list`, `months`, `today`, `search`, `images`, `latest`, `delete`.
@MainActor final class Commands {
  /// The command line is invalid. The description says what is valid.
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  private static let usage = """
    usage: diary                                     play the story on a fresh file
           diary add EMOTION TEXT [--tag NAME]… [--image PATH]…
           diary list [EMOTION]                      newest first
           diary months [EMOTION]                    a bar for each month, newest first, empty months included
           diary today                               the entries of this day in any year
           diary search WORD                         in the text and in the tags
           diary images [EMOTION]                    every picture with its day, newest day first
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
    case "months": try months()
    case "today": try today()
    case "search": try search()
    case "images": try images()
    case "latest": try latest()
    case "delete": try delete()
    case "help", "--help", "-h": print(Self.usage)
    default: throw Mistake(description: "diary: there is no command '\(command)'.\n\(Self.usage)")
    }
  }

  // MARK: The file

  private let path = ProcessInfo.processInfo.environment["DIARY_FILE"] ?? "diary.db"

  /// Held as long as its objects are shown, because to-manys are empty without their context.
  private var context: ManagedObjectContext?

  private func openOrBegin() throws -> ManagedObjectContext {
    let opened = try PersistentContainer(model: .diary, store: .sqlite(at: URL(filePath: path))).mainContext
    context = opened
    return opened
  }

  private func open() throws -> ManagedObjectContext {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Mistake(description: "diary: there is no diary at '\(path)' yet; 'diary add EMOTION TEXT' begins one.")
    }
    return try openOrBegin()
  }

  // MARK: Commands

  private func add() throws {
    let words = try Words(arguments)
    guard words.plain.count == 2 else {
      throw Mistake(description: "diary: add takes an emotion and a text.\n\(Self.usage)")
    }
    let emotion = try emotion(words.plain[0])
    let context = try openOrBegin()
    let diary = EmotionDiary(in: context, emotion: emotion, content: words.plain[1])
    for path in words.images { diary.images.append(DiaryImage(in: context, imagePath: path)) }
    for name in words.tags {
      let known = try context.first(Tag.where { $0.name == name })
      diary.tags.append(known ?? Tag(in: context, name: name))
    }
    do {
      try context.save()
    } catch let error as ValidationError {
      throw Mistake(description: "diary: \(error.failures.map(sentence).joined(separator: " "))")
    }
    show(diary)
  }

  /// The message to the user about a broken rule.
  private func sentence(for failure: ValidationFailure) -> String {
    switch (failure.property, failure.rule) {
    case ("content", .minimumLength): "An entry needs a text."
    case ("images", .maximumCount): "An entry has 10 pictures at most."
    default: "\(failure.property): \(failure.message)."
    }
  }

  private func list() throws {
    let request = try entries(of: arguments.first)
    show(try open().fetch(request))
  }

  private func months() throws {
    let live = try open().live(entries(of: arguments.first), sectionedBy: { $0.createdAt.month() })
    let counts = Dictionary(live.sections.map { ($0.value, $0.count) }) { first, _ in first }
    guard let first = counts.keys.min(), let last = counts.keys.max() else { return print("nothing found") }
    for month in first.through(last.start).reversed() {
      let count = counts[month] ?? 0
      let bar = String(repeating: "▇", count: min(count, 60))
      print("\(month.start.formatted(.dateTime.year().month()))  \(bar)\(count > 0 ? " \(count)" : "")")
    }
  }

  private func today() throws {
    show(try open().fetch(entries(of: nil).where { $0.createdAt.isAnniversary(of: .now) }))
  }

  private func search() throws {
    let word = try word("search takes a word")
    let request = EmotionDiary.where {
      $0.content.contains(word, .caseInsensitive) || $0.tags.any { $0.name.contains(word, .caseInsensitive) }
    }
    show(try open().fetch(request.sorted { $0.createdAt.descending }))
  }

  private func images() throws {
    let request = try entries(of: arguments.first).where { !$0.images.isEmpty }
    let diaries = try open().fetch(request)
    if diaries.isEmpty { print("nothing found") }
    for diary in diaries {
      for image in diary.images { print("\(image.imagePath)  \(diary.day)  \(diary.content)") }
    }
  }

  private func latest() throws {
    let emotion = try emotion(word("latest takes an emotion"))
    show(try open().fetch(EmotionDiary.latest(emotion: emotion)))
  }

  private func delete() throws {
    guard let key = Int64(try word("delete takes a number")) else {
      throw Mistake(description: "diary: delete takes the number that list shows.")
    }
    let context = try open()
    guard let diary = try context.fetch(EmotionDiary.all).first(where: { $0.objectID.key == key }) else {
      throw Mistake(description: "diary: there is no entry \(key).")
    }
    try context.delete(diary)
    try context.save()
    print("deleted, with its pictures")
  }

  /// The entries, newest first, optionally of one emotion.
  private func entries(of name: String?) throws -> FetchRequest<EmotionDiary.Columns> {
    let newest = EmotionDiary.all.sorted { $0.createdAt.descending }
    guard let name else { return newest }
    let emotion = try emotion(name)
    return newest.where { $0.emotion == emotion }
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

  private func show(_ diaries: [EmotionDiary]) {
    if diaries.isEmpty { print("nothing found") }
    diaries.forEach(show)
  }

  private func show(_ diary: EmotionDiary) { print("\(diary.objectID.key)  \(diary.summary)") }
}

/// The words after `add`, sorted by their kind.
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
