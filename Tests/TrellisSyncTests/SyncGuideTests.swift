import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@testable import TrellisDynamic
@testable import TrellisSync

@Suite("The guide to sync") struct SyncGuideTests {
  @Test("The samples of the guide run") func samples() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (officeStore, phoneStore) = (try SyncStore(model), try SyncStore(model))
    let (office, phone) = (officeStore.container, phoneStore.container)
    try phoneStore.save { context in _ = try context.insert("List", ["name": .text("a")]) }

    let server = try SyncServer(office)
    let respond: @Sendable ([UInt8]) -> [UInt8] = { body in server.answer(to: body) }
    #expect(try SyncMessage(respond([])) != .registered(RegisterAnswer(identity: "", number: 0, now: 0)))

    let session = try SyncSession(phone)
    session.start(with: LocalTransport(to: server))
    let report = try await session.now()
    print(report.sent, report.received, report.conflicts.count, session.state)
    session.stop()

    let replica = try Replica(phone)
    try await replica.exchange(with: LocalTransport(to: server))
    #expect(try officeStore.texts("List") == ["a"])

    for conflict in try replica.conflicts() {
      print(conflict.changes.objects.count, conflict.reason?.rawValue ?? "merged", conflict.failures)
      try replica.remove(conflict)
    }

    var policy = SyncPolicy(.latest)
    policy["List.total"] = .sum
    let strict = try SyncServer(office, policy: policy)
    #expect(strict.policy.usual == .latest)
  }

  @Test("The samples of rights and scopes run") func parts() async throws {
    let stores = try ErrandStores()
    let (office, phone) = (stores.office, try stores.store("phone"))

    let guarded = try SyncServer(
      office,
      rights: { access in
        let errands = [access.before, access.after].compactMap { $0 as? Errand }
        return errands.allSatisfy { $0.person?.name == access.user }
      })
    let handle: @Sendable ([UInt8], String) -> [UInt8] = { body, user in guarded.answer(to: body, from: user) }
    #expect(try SyncMessage(handle([], "ada")) != .registered(RegisterAnswer(identity: "", number: 0, now: 0)))

    let shared = try SyncServer(
      office,
      scopes: { request, user in
        guard let user, request?.name == "mine" else { return nil }
        return SyncScope(Errand.where { $0.person.name == user })
      })

    let mine = try Replica(phone, scope: "mine")
    try await mine.exchange(with: LocalTransport(to: shared, from: "ada"))
    #expect(try stores.titles(phone) == ["rice", "tea"])
  }

  @Test("The diaries of the guide have the entries of both devices") func diaries() async throws {
    let place = try TestFolder()
    let server = Task { [url = place.url] in try await run(["server"], in: url) }
    // The last but one may get an answer from before the rain, to the same request of a run that did not wait for it.
    for words in [["phone", "A walk by the sea"], ["tablet", "Rain"], ["phone"], ["phone"]] {
      var rest = words
      while !rest.isEmpty {
        do {
          try await run(rest, in: place.url)
          rest = []
        } catch let error as SyncError where [.unreachable, .busy].contains(error.code) {
          // The server's task has not run in time beside other tests, or the former run still ends its exchange. The entry is
          // saved, so a run without one sends it.
          rest = [words[0]]
        }
      }
    }
    server.cancel()
    try await server.value
    for name in ["phone", "tablet", "server"] {
      let container = try PersistentContainer(model: .diaries, store: .sqlite(at: place.file("\(name).sqlite")))
      let texts = try container.newContext().fetch(Entry.all.sorted { $0.writtenAt }).map(\.text)
      #expect(texts == ["A walk by the sea", "Rain"], "\(name)")
    }
  }

  @Test("A transport by HTTP is made as in the guide") func web() throws {
    let url = try #require(URL(string: "http://127.0.0.1:1/sync"))
    let token = "x"
    let web = HTTPTransport(url) { request in
      request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    }
    _ = web
  }

  @Test("Each sample of the guide stands in the tests above, and the model is the one of the tests")
  func guide() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let guide = GuideText("Sync.md")
    #expect(try guide.samples(missingFrom: #filePath, folder.appending(path: "DiariesSample.swift").path) == [])
    let model = try String(contentsOf: folder.appending(path: "Models/Diaries.model.json"), encoding: .utf8)
    #expect(try guide.blocks("json").contains(model.trimmingCharacters(in: .newlines)))
  }
}
