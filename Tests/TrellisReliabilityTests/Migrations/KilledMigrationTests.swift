import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("When programs are killed during a migration, a SQLite file is the former one or the new one")
struct KilledMigrationTests {
  /// How often a program is killed during each kind of migration.
  private static let rounds = TestSettings.number("TRELLIS_MIGRATION_KILLS", or: 3)
  private static let rowCount = 20_000

  private let diary: DiaryStore
  /// Holds what is not the store's.
  private let folder: TestFolder

  init() throws {
    diary = try DiaryStore(.sqlite)
    folder = try TestFolder()
  }

  /// Starts a program that opens the file with the changed model.
  private func start(_ change: DiaryChange, _ name: String, rest: Int = 0) throws -> MigratingProcess {
    let model = folder.file("changed.model.json")
    // Another program may be reading it.
    try Data(change.model.canonicalJSON().utf8).write(to: model, options: .atomic)
    return try MigratingProcess(diary.url, model: model, words: folder.file(name), rest: rest)
  }

  @Test("kill -9 at any moment leaves all rows, and the next opening finishes", arguments: DiaryChange.allCases)
  func anyMoment(change: DiaryChange) throws {
    let expected = try diary.expected(change, rowCount: Self.rowCount)
    try expected.image.put(into: diary.folder.url)
    let whole = try start(change, "first")
    whole.waitUntil("migrating")
    let clock = ContinuousClock.now
    whole.waitUntil("open")
    let duration = ContinuousClock.now - clock
    whole.end()
    var unfinished = 0
    for round in 0..<Self.rounds {
      try expected.image.put(into: diary.folder.url)
      let process = try start(change, "round")
      process.waitUntil("migrating")
      let microseconds = Double(duration.components.seconds) * 1e6 + Double(duration.components.attoseconds) / 1e12
      Thread.sleep(forTimeInterval: .random(in: 0...microseconds * 1.1) / 1e6)
      process.kill()
      process.end()
      if try !diary.expectWhole(expected, "round \(round)") { unfinished += 1 }
    }
    print("\(change): killed \(Self.rounds) times, \(unfinished) times before the end")
  }

  @Test(
    "eight programs open a former file at once, the one that migrates is killed: another one migrates, and all open")
  func eightPrograms() throws {
    _ = try diary.make(rowCount: Self.rowCount)
    let formerRows = try PlainSQLite(diary.url).rows("SELECT count(*) FROM Entry")
    let processes = try (0..<8).map { try start(.losing, "program \($0)", rest: 500) }
    var killed: MigratingProcess?
    while killed == nil, processes.contains(where: \.isRunning) {
      killed = processes.first { $0.has("migrating") }
      Thread.sleep(forTimeInterval: 0.002)
    }
    let victim = try #require(killed)
    victim.kill()
    for process in processes { process.end() }
    let others = processes.filter { $0 !== victim }
    #expect(!victim.has("open"))
    #expect(others.filter { $0.has("open") }.count == 7, "\(others.map(\.said))")
    #expect(others.filter { $0.has("migrating") }.count == 1)
    let file = try PlainSQLite(diary.url)
    #expect(try file.rows("SELECT count(*) FROM Entry") == formerRows)
    #expect(try file.rows("SELECT count(*) FROM _models") == [["2"]])
    #expect(try file.rows("PRAGMA integrity_check") == [["ok"]])
  }
}

/// A program that opens a file with another model.
final class MigratingProcess {
  private let process = Process()
  private let words: URL

  struct Missing: Error {}

  init(_ file: URL, model: URL, words: URL, rest: Int) throws {
    guard let program = BuiltProgram.url(of: "TrellisMigrationProcess") else { throw Missing() }
    self.words = words
    try Data().write(to: words)
    process.executableURL = program
    process.arguments = [file.path, model.path, words.path, String(rest)]
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  /// What the program has said.
  var said: String { (try? String(contentsOf: words, encoding: .utf8)) ?? "" }

  func has(_ word: String) -> Bool { said.split(separator: "\n").contains { $0 == word } }

  /// Waits until the program says a word, or has ended.
  func waitUntil(_ word: String) {
    while !has(word), process.isRunning { Thread.sleep(forTimeInterval: 0.000_5) }
  }

  func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

  func end() { process.waitUntilExit() }
}
