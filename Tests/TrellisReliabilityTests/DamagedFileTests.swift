import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// SQLite files that were damaged at random. Nobody can say what must be in them afterwards. But one that is refused is left as it
/// is, and one in which a check finds nothing can be read to its end and saved to.
@Suite("A damaged SQLite file is no danger") struct DamagedFileTests {
  /// How many files are damaged; a long run says so.
  private static let count = TestSettings.number("TRELLIS_DAMAGED_FILES", or: 80)

  /// How far a program came with a file.
  private struct Use {
    var isOpened = false
    var findings: [String]?
    var error: (any Error)?

    var outcome: String {
      if let error { return (error as? StoreError)?.code.rawValue ?? "\(type(of: error))" }
      return findings == [] ? "all read and saved" : "findings"
    }

    /// What the program was told.
    var messages: [String] { (findings ?? []) + (error.map { ["\($0)"] } ?? []) }
  }

  @Test(
    "one that is refused stays as it is, one that a check finds nothing in is read and saved to; more by TRELLIS_DAMAGED_FILES"
  )
  func damaged() throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    let original = try ClubFiles()
    let store = try ClubStore(.sqlite)
    var outcomes: [String: Int] = [:]
    var (refused, found) = (0, 0)
    var longest = Duration.zero
    for round in 1...max(1, Self.count) {
      let place: Comment = "seed \(seed), round \(round)"
      let copy = original.damaged(&random)
      try copy.write(to: store.file)
      let start = ContinuousClock.now
      let use = use(store)
      longest = max(longest, ContinuousClock.now - start)
      outcomes[use.outcome, default: 0] += 1
      #expect(use.messages.allSatisfy { !$0.contains(ClubFiles.name) }, place)
      if use.findings?.isEmpty == false { found += 1 }
      if !use.isOpened {
        refused += 1
        #expect(try copy.lies(at: store.file), place)
      }
      if use.findings == [] { #expect(use.error == nil, place) }
      // A mistake in Trellis is no answer.
      #expect(use.error == nil || use.error is StoreError || use.error is ContextError, place)
      #expect(use.outcome != StoreError.Code.internalError.rawValue, place)
    }
    print("damaged files: seed \(seed), \(outcomes.sorted { $0.key < $1.key }), the longest took \(longest)")
    if Self.count >= 80 {
      #expect(refused > 0 && found > 0 && refused + found < Self.count, "seed \(seed): \(outcomes)")
    }
  }

  /// Does with a store what programs do.
  private func use(_ store: ClubStore) -> Use {
    var use = Use()
    do {
      let container = try store.open()
      use.isOpened = true
      defer { container.close() }
      use.findings = try container.check().map(\.description)
      let context = container.newContext()
      for person in try context.fetch(Person.all.sorted { $0.name }) { Self.walk(person) }
      _ = try context.count(Person.where { $0.songs.any { $0.title.contains("song") } })
      _ = Person(in: context, name: "New")
      try context.save()
    } catch {
      use.error = error
    }
    return use
  }

  private static func walk(_ person: Person) {
    _ = (person.code, person.age, person.team?.name, person.desk?.room, person.partner?.name, person.mentor?.name)
    for song in person.songs { _ = song.title }
    for friend in person.friends { _ = friend.name }
    for badge in person.badges { _ = badge.title }
  }
}

/// A club's file as it is, and with the log that a program that was ended has left beside it.
private struct ClubFiles {
  static let name = "Wilhelmina"
  private let file: Data
  private let log: Data

  init() throws {
    let store = try ClubStore(.sqlite)
    try store.fill()
    let container = try store.open()
    let context = container.newContext()
    let people = (0..<60).map { Person(in: context, name: "\(Self.name) \($0)") }
    for (place, person) in people.enumerated() {
      person.code = String(repeating: "\(place) ", count: 1 + place * 7)
      person.songs.append(Song(in: context, title: "song \(place % 9)"))
      person.friends.append(people[place / 2])
    }
    try context.save()
    file = try Data(contentsOf: store.file)
    log = try Data(contentsOf: Self.log(of: store.file))
    container.close()
  }

  private static func log(of file: URL) -> URL { URL(filePath: file.path + "-wal") }

  struct Copy {
    var file: Data
    var log: Data?

    func write(to url: URL) throws {
      for ending in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: url.path + ending) }
      try file.write(to: url)
      try log?.write(to: ClubFiles.log(of: url))
    }

    /// Whether the files are still as they were written.
    func lies(at url: URL) throws -> Bool {
      try Data(contentsOf: url) == file && (try? Data(contentsOf: ClubFiles.log(of: url))) == log
    }
  }

  /// The file, or its log, with one to four faults.
  func damaged(_ random: inout SeededGenerator) -> Copy {
    var copy = Copy(file: file, log: log)
    let isInLog = random.below(4) == 0
    for _ in 0...random.below(4) {
      if isInLog { copy.log?.damage(&random) } else { copy.file.damage(&random) }
    }
    return copy
  }
}

extension Data {
  private static let page = 4096

  fileprivate mutating func damage(_ random: inout SeededGenerator) {
    if isEmpty { return }
    switch random.below(7) {
    case 0: self[random.below(count)] ^= 1 << UInt8(random.below(8))
    case 1: for _ in 0..<50 { self[random.below(count)] = UInt8(random.below(256)) }
    case 2: removeSubrange(random.below(count)...)
    case 3:  // the header, which says how everything else is to be read
      self[random.below(Swift.min(100, count))] = UInt8(random.below(256))
    case 4:  // one page in another's place
      let (from, to) = (random.below(count / Self.page + 1), random.below(count / Self.page + 1))
      copyPage(from: from, to: to)
    case 5:  // the beginning of a page, which says what lies where in it
      let place = random.below(count / Self.page + 1) * Self.page + random.below(12)
      if place < count { self[place] = UInt8(random.below(256)) }
    default:
      let start = random.below(count)
      for place in start..<Swift.min(count, start + random.below(600)) { self[place] = 0 }
    }
  }

  private mutating func copyPage(from: Int, to: Int) {
    guard (from + 1) * Self.page <= count, (to + 1) * Self.page <= count else { return }
    replaceSubrange(to * Self.page..<(to + 1) * Self.page, with: self[from * Self.page..<(from + 1) * Self.page])
  }
}
