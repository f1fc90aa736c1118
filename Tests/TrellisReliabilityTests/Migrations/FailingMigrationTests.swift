import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("When the disk fails during a migration, a store is the former one or the migrated one")
struct FailingMigrationTests {
  private static let rowCount = 120

  @Test(
    "each step of SQLite's may fail, once or for ever, and the next opening migrates",
    arguments: DiaryChange.allCases, FailingDiskTests.Fault.allCases)
  func stepsOfSQLite(change: DiaryChange, fault: FailingDiskTests.Fault) throws {
    let diary = try DiaryStore(.sqlite)
    let disk = try TestDisk(diary.folder.url)
    let expected = try diary.expected(change, rowCount: Self.rowCount)
    var failures = 0
    for isForEver in [false, true] {
      for number in 1... {
        try expected.image.put(into: diary.folder.url)
        disk.fail(
          TestDisk.Failure(
            kinds: [fault.kind], number: number, isForEver: isForEver, code: fault.code, writesHalf: number % 2 == 0))
        do { try diary.open(expected.model) } catch { try check(error) }
        let hasFailed = disk.failures > 0
        disk.fail(nil)
        try diary.expectWhole(expected, "\(change), \(fault) \(number), for ever: \(isForEver)")
        guard hasFailed else { break }
        failures += 1
      }
    }
    print("\(change), \(fault): failed at each of \(failures) steps")
  }

  @Test(
    "each step of the file system, for documents, copies and external files, may fail, once or for ever",
    arguments: DiaryStore.Kind.allCases, DiaryChange.allCases)
  func stepsOfFileSystem(kind: DiaryStore.Kind, change: DiaryChange) throws {
    let diary = try DiaryStore(kind)
    let expected = try diary.expected(change, rowCount: Self.rowCount)
    let files = FailingFiles()
    var failures = 0
    for isForEver in [false, true] {
      for number in 1... {
        try expected.image.put(into: diary.folder.url)
        files.fail(at: number, forEver: isForEver)
        do { try diary.configuration(files).open(expected.model).close() } catch { try check(error) }
        let hasFailed = files.tried >= number
        files.fail(at: nil, forEver: false)
        try diary.expectWhole(expected, "\(kind), \(change), step \(number), for ever: \(isForEver)")
        guard hasFailed else { break }
        failures += 1
      }
    }
    print("\(kind), \(change): failed at each of \(failures) steps of the file system")
    #expect(failures > (kind == .json || change == .losing ? 10 : 0))
  }

  private func check(_ error: any Error) throws {
    let error = try #require(error as? StoreError, "\(error)")
    #expect([.inputOutput, .full, .cannotOpen].contains(error.code), "\(error)")
  }

  @Test("a program that is open with the former model writes nothing into the migrated file, and is told why")
  func openElsewhere() throws {
    let diary = try DiaryStore(.sqlite)
    _ = try diary.make(rowCount: Self.rowCount)
    let (store, url, former) = (diary.configuration(), diary.url, diary.former)
    let old = try store.open(former)
    let connection = try old.connect()
    #expect(try connection.count(StoreRequest(entity: 0)) == Self.rowCount)
    let new = try store.open(Model(DiaryChange.written.model))
    let expected = try PlainSQLite(url).rows(DiaryChange.written.rows)
    for _ in 0..<2 {
      let reading = #expect(throws: StoreError.self) { _ = try connection.count(StoreRequest(entity: 0)) }
      #expect(reading?.code == .migratedByOthers)
      let saving = #expect(throws: StoreError.self) {
        let request = SaveRequest()
        request.deletes = [.init(entity: 2, keys: [70001], versions: [1])]
        _ = try connection.save(request)
      }
      #expect(saving?.code == .migratedByOthers)
    }
    old.close()
    #expect(throws: StoreError.self) { try store.open(former) }
    #expect(try PlainSQLite(url).rows(DiaryChange.written.rows) == expected)
    #expect(try PlainSQLite(url).rows("SELECT count(*) FROM _models") == [["2"]])
    new.close()
  }

  @Test("threads that open a former file at once migrate it once, and all open")
  func atOnce() async throws {
    let diary = try DiaryStore(.sqlite)
    let whole = try diary.make(rowCount: Self.rowCount)
    let (store, url) = (diary.configuration(), diary.url)
    let model = try Model(DiaryChange.losing.model)
    for _ in 0..<5 {
      try whole.put(into: diary.folder.url)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let opened = try store.open(model)
            defer { opened.close() }
            return try opened.connect().count(StoreRequest(entity: 0))
          }
        }
        for try await count in group { #expect(count == Self.rowCount) }
      }
      #expect(try PlainSQLite(url).rows("SELECT count(*) FROM _models") == [["2"]])
    }
  }
}
