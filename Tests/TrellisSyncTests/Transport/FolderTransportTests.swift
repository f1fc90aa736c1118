import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

@Suite("Exchanges by a folder") struct FolderTransportTests {
  private let model = SyncModels.model(SyncModels.lists)
  private let place: TestFolder
  private let office: SyncStore
  private let server: SyncServer

  init() throws {
    place = try TestFolder()
    office = try SyncStore(model)
    server = try office.server()
  }

  private var folder: ExchangeFolder { ExchangeFolder(place.url) }
  private var answering: FolderServer { FolderServer(server, in: place.url) }

  private func content() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.url.path).sorted()
  }

  /// A question that the server answers without a change of its store.
  private let question = SyncMessage.register(RegisterRequest(identity: "a", model: "other")).bytes

  @Test("Replicas exchange while a server answers in the folder, and leave nothing behind")
  func exchange() async throws {
    let (phone, tablet) = (try SyncStore(model), try SyncStore(model))
    try phone.save { context in _ = try context.insert("List", ["name": .text("a")]) }
    let answering = answering
    let task = Task { await answering.run(lookingEvery: .milliseconds(5)) }
    defer { task.cancel() }
    let transport = FolderTransport(place.url, timeout: .seconds(3_600), lookingEvery: .milliseconds(5))
    for store in [phone, tablet] { try await store.replica().exchange(with: transport) }
    #expect(try tablet.texts("List") == ["a"])
    #expect(try content() == [])
  }

  @Test("Several servers answer in one folder") func severalServers() async throws {
    let stores = try (0..<4).map { _ in try SyncStore(model) }
    let answering = answering
    let tasks = (0..<3).map { _ in Task { await answering.run(lookingEvery: .milliseconds(1)) } }
    defer { for task in tasks { task.cancel() } }
    let transport = FolderTransport(place.url, timeout: .seconds(3_600), lookingEvery: .milliseconds(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in stores.enumerated() {
        let replica = try store.replica()
        try store.save { context in _ = try context.insert("List", ["name": .text("\(number)")]) }
        group.addTask {
          for _ in 0..<3 { try await replica.exchange(with: transport) }
        }
      }
      try await group.waitForAll()
    }
    for store in stores { try await store.replica().exchange(with: transport) }
    for store in stores { #expect(try store.texts("List") == ["0", "1", "2", "3"]) }
  }

  @Test("A question that has no answer in time is answered later, and the next exchange goes on with it")
  func late() async throws {
    let phone = try SyncStore(model)
    let replica = try phone.replica()
    let hasty = FolderTransport(place.url, timeout: .zero, lookingEvery: .milliseconds(1))
    try phone.save { context in _ = try context.insert("List", ["name": .text("a")]) }
    var rounds = 0
    // Each round is one message on: to register, to push, to pull.
    while rounds < 10 {
      do {
        try await replica.exchange(with: hasty)
        break
      } catch let error as SyncError {
        #expect(error.code == .unreachable)
        #expect(try content().count == 1)
        #expect(try answering.answerAll() == 1)
      }
      rounds += 1
    }
    #expect(rounds == 3)
    #expect(try office.texts("List") == ["a"])
    #expect(try content() == [])
  }

  @Test("A file of which a part is missing counts as not there", arguments: ExchangeFolder.Kind.allCases)
  func parts(_ kind: ExchangeFolder.Kind) throws {
    let name = ExchangeFolder.Name(of: question)
    try folder.write(question, name, kind)
    let file = place.file("\(name.text).\(kind.rawValue)")
    let whole = [UInt8](try Data(contentsOf: file))
    #expect(try folder.message(name, kind) == question)
    for count in 0..<whole.count {
      try Data(whole.prefix(count)).write(to: file)
      #expect(try folder.message(name, kind) == nil, "\(count)")
      #expect(try answering.answerAll() == 0)
    }
    for place in whole.indices {
      var other = whole
      other[place] ^= 0x10
      try Data(other).write(to: file)
      #expect(try folder.message(name, kind) == nil, "\(place)")
    }
    try Data(whole).write(to: file)
    #expect(try answering.answerAll() == (kind == .question ? 1 : 0))
  }

  @Test("Files of others are neither read nor removed") func others() throws {
    let name = ExchangeFolder.Name(of: question).text
    let own = [
      "note.txt", "\(name).question.txt", "\(name.uppercased()).question", "x.question", ".\(name).question", "a.part",
    ]
    for file in own { try Data("x".utf8).write(to: place.file(file)) }
    try FileManager.default.createDirectory(at: place.file("\(name).question"), withIntermediateDirectories: true)
    #expect(try answering.answerAll() == 0)
    try FolderServer(server, folder, .seconds(-60)).removeLeftovers()
    #expect(Set(try content()).isSuperset(of: own))
  }

  @Test("A question under the name of another one is not answered") func otherName() throws {
    try folder.write(question, ExchangeFolder.Name(of: [1]), .question)
    #expect(try answering.answerAll() == 0)
  }

  @Test("Leftovers go when they are old, and not before") func leftovers() throws {
    let name = ExchangeFolder.Name(of: question)
    try folder.write(question, name, .question)
    try folder.write(question, name, .answer)
    try Data().write(to: place.file(".\(name.text).X.part"))
    try answering.removeLeftovers()
    #expect(try content().count == 3)
    try FolderServer(server, folder, .seconds(-60)).removeLeftovers()
    #expect(try content() == [])
  }

  @Test("A push with another time of the clock is the same question") func sameQuestion() {
    func push(_ now: Int64, _ replica: Int64) -> ExchangeFolder.Name {
      var clocks = ClockDifference()
      clocks.isAtLeast(now)
      let request = PushRequest(replica: replica, model: "m", now: now, clocks: clocks, sets: [])
      return ExchangeFolder.Name(of: SyncMessage.push(request).bytes)
    }
    #expect(push(1, 2) == push(2, 2))
    #expect(push(1, 2) != push(1, 3))
  }

  @Test("A folder that is not there is a failure that passes") func missing() async throws {
    let gone = FolderTransport(place.file("gone"), timeout: .seconds(3_600))
    let error = await #expect(throws: SyncError.self) { try await gone.answer(to: [1]) }
    #expect(error?.code == .unreachable)
    #expect(throws: SyncError.self) { try FolderServer(server, in: place.file("gone")).answerAll() }
  }

  @Test("Whichever step of the disk fails, a file is there as a whole or not at all, and nothing else is left")
  func failures() throws {
    let files = FailingFiles()
    let folder = ExchangeFolder(place.url, files: files)
    let name = ExchangeFolder.Name(of: question)
    var step = 1
    while true {
      files.fail(at: step, forEver: false)
      var isWritten = true
      do { try folder.write(question, name, .question) } catch {
        isWritten = false
        #expect(error.code == .unreachable)
      }
      let hasFailed = files.tried >= step
      files.fail(at: nil, forEver: false)
      let left = try content()
      #expect(left == [] || left == ["\(name.text).question"])
      #expect(!isWritten || left.count == 1)
      if !left.isEmpty { #expect(try folder.message(name, .question) == question) }
      try folder.remove(name, .question)
      if !hasFailed { break }
      step += 1
    }
    #expect(step > 4)
  }

  @Test("A call ends when its task is cancelled") func cancelling() async throws {
    let transport = FolderTransport(place.url, timeout: .seconds(3_600), lookingEvery: .milliseconds(1))
    let question = question
    let call = Task { try await transport.answer(to: question) }
    while try folder.names(.question).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
  }
}
