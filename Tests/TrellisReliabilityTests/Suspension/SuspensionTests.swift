import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A suspended container holds no lock and no file") struct SuspensionTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func file(_ kind: LoopFile.Kind, saves: Int = 3) throws -> LoopFile {
    let file = LoopFile(kind: kind, url: folder.file("loop"))
    try file.fill(saves: saves)
    return file
  }

  private func value(_ context: ManagedObjectContext) throws -> Int64? {
    try context.first(Counter.where { $0.name == "a" })?.value
  }

  @Test(
    "calls throw until it is resumed, and what is not saved is saved then", arguments: LoopFile.Kind.allCases)
  func refusal(kind: LoopFile.Kind) throws {
    let file = try file(kind)
    let container = try file.open()
    defer { container.close() }
    let context = container.newContext()
    let counter = try #require(try context.first(Counter.where { $0.name == "a" }))
    counter.value = 10
    try container.suspend()
    #expect(container.isSuspended)
    #expect(try OpenFiles.of(file) == [])
    failure(of: .suspended) { try context.save() }
    failure(of: .suspended) { _ = try container.newContext().count(Parent.all) }
    #expect(counter.value == 10 && context.hasChanges)
    try container.suspend()
    container.resume()
    container.resume()
    #expect(!container.isSuspended)
    try context.save()
    #expect(try value(container.newContext()) == 10)
  }

  @Test("the way out of the refusal works") func remedy() throws {
    let container = try file(.sqlite).open()
    defer { container.close() }
    try container.suspend()
    let error = #expect(throws: StoreError.self) { try value(container.newContext()) }
    #expect(error?.remedy.contains("resume()") == true)
    container.resume()
    #expect(try value(container.newContext()) == 3)
  }

  @Test("what other programs save meanwhile is seen afterwards, also if they were alone with the file")
  func others() throws {
    let file = try file(.sqlite)
    let container = try file.open()
    defer { container.close() }
    let context = container.newContext()
    let counter = try #require(try context.first(Counter.where { $0.name == "a" }))
    #expect(counter.value == 3)
    for round in 1...3 as ClosedRange<Int64> {
      try container.suspend()
      // The last one to close the file removes its log, so commits are counted anew.
      try file.fill(saves: 1)
      container.resume()
      #expect(try value(context) == 3 + round)
      #expect(counter.value == 3 + round)
    }
  }

  @Test("a document that another program has opened meanwhile is used again when that has closed it")
  func document() throws {
    let file = try file(.json)
    let container = try file.open()
    defer { container.close() }
    let context = container.newContext()
    try container.suspend()
    let other = try file.open()
    container.resume()
    failure(of: .suspended) { _ = try value(context) }
    other.close()
    container.resume()
    #expect(try value(context) == 3)
    let loop = SaveLoop(writer: "a", context: container.newContext())
    #expect(try loop.save() == 4)
    failure(of: .busy) { try file.open().close() }
  }

  @Test("a statement that runs is interrupted") func running() throws {
    let file = try file(.sqlite, saves: 30)
    let container = try file.open()
    defer { container.close() }
    // Each parent is compared with each child of each other parent, which takes minutes.
    let counting = started {
      try container.newContext().count(
        Parent.where(
          "SUBQUERY(children, $c, ANY SUBQUERY($c.parent.children, $d, $d.filler MATCHES '(x|xx)+y').@count > 0).@count > 9"
        ))
    }
    _ = counting
    Thread.sleep(forTimeInterval: 0.05)
    try container.suspend(within: .seconds(60))
    #expect(try OpenFiles.of(file) == [])
  }

  @Test("a save that waits for another writer stops waiting") func waiting() throws {
    let file = try file(.sqlite)
    let container = try file.open(busyTimeout: 1_000)
    defer { container.close() }
    let other = try PlainSQLite(file.url)
    _ = try other.rows("BEGIN IMMEDIATE")
    let saving = started {
      let loop = SaveLoop(writer: "a", context: container.newContext())
      return try loop.save()
    }
    Thread.sleep(forTimeInterval: 0.1)
    try container.suspend(within: .seconds(60))
    let error = #expect(throws: StoreError.self) { try saving.value() }
    #expect(error?.code == .suspended, "\(error as Any)")
    _ = try other.rows("COMMIT")
    container.resume()
    #expect(try SaveLoop(writer: "a", context: container.newContext()).save() == 4)
  }

  @Test("a context as of a moment reads on after a suspension") func past() throws {
    let file = try file(.sqlite)
    let container = try file.open()
    defer { container.close() }
    let then = try #require(try container.history().last?.token)
    let past = try container.newContext(asOf: then)
    #expect(try value(past) == 3)
    #expect(try SaveLoop(writer: "a", context: container.newContext()).save() == 4)
    try container.suspend()
    #expect(try OpenFiles.of(file) == [])
    failure(of: .suspended) { _ = try past.count(Parent.all) }
    container.resume()
    past.reset()
    #expect(try value(past) == 3)
    #expect(try value(container.newContext()) == 4)
  }

  @Test("notifications suspend and resume it, until it is closed") func notifications() throws {
    let center = NotificationCenter()
    let (sleep, wake) = (Notification.Name("sleep"), Notification.Name("wake"))
    let container = try file(.sqlite).open()
    let notifications = SuspensionNotifications(suspending: [sleep], resuming: [wake])
    #expect("\(notifications)" == "suspends at sleep, resumes at wake")
    container.suspendAutomatically(at: notifications, center: center)
    center.post(name: sleep, object: nil)
    #expect(container.isSuspended)
    center.post(name: wake, object: nil)
    #expect(!container.isSuspended)
    #expect(try value(container.newContext()) == 3)
    container.close()
    center.post(name: sleep, object: nil)
    #expect(!container.isSuspended)
    failure(of: .closed) { try container.suspend() }
  }

  @Test("a container that only reads sees what others save, whoever opened the file first", arguments: [true, false])
  func reader(isFirst: Bool) throws {
    let file = try file(.sqlite)
    let early = isFirst ? try file.open(readOnly: true) : nil
    let writer = try file.open()
    let reader = try early ?? file.open(readOnly: true)
    let context = reader.newContext()
    let counter = try #require(try context.first(Counter.where { $0.name == "a" }))
    #expect(counter.value == 3)
    #expect(try SaveLoop(writer: "a", context: writer.newContext()).save() == 4)
    #expect(try value(context) == 4)
    #expect(counter.value == 4)
    for _ in 0..<300 { _ = try SaveLoop(writer: "a", context: writer.newContext()).save() }
    writer.close()
    #expect(try value(context) == 304)
    failure(of: .readOnly) { _ = try SaveLoop(writer: "a", context: reader.newContext()).save() }
    let copy = LoopFile(kind: .sqlite, url: folder.file("copy"))
    try reader.backUp(to: copy.url)
    #expect(try copy.picture().counters["a"] == 304)
    try FileManager.default.removeItem(at: copy.url)
    reader.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["loop"])
  }
}

/// The files of a store that this process has open.
enum OpenFiles {
  static func of(_ file: LoopFile, process: String = "self") throws -> [String] {
    #if os(Linux)
      let folder = "/proc/\(process)/fd"
      return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
        return target.flatMap { $0.hasPrefix(file.url.path) ? $0 : nil }
      }
    #else
      return []
    #endif
  }
}
