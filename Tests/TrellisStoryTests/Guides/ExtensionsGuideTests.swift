import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

private typealias Tag = TrellisDiaryModel.Tag

@Suite("The samples of Extensions.md") struct ExtensionsGuideTests {
  @Test("each sample stands in these tests") func complete() throws {
    #expect(try GuideText("Extensions.md").samples(missingFrom: #filePath) == [])
  }

  @Test("an app and a widget share a file") func sharing() throws {
    let home = try TestFolder()
    let folder = home.url
    let url = folder.appending(path: "diary.db")
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
    let reader = try PersistentContainer(model: .diary, store: .sqlite(at: url, readOnly: true))
    let (writing, reading) = (container.newContext(), reader.newContext())
    #expect(try reading.count(Tag.all) == 0)
    _ = Tag(in: writing, name: "rain")
    try writing.save()
    #expect(try reading.count(Tag.all) == 1)
    _ = Tag(in: reading, name: "snow")
    let error = #expect(throws: StoreError.self) { try reading.save() }
    #expect(error?.code == .readOnly)
    reader.close()
    container.close()
  }

  @Test("a container is suspended and resumed") func suspending() throws {
    let home = try TestFolder()
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: home.file("diary.db")))
    defer { container.close() }
    try container.suspend()
    // The process may be suspended here.
    container.resume()
    #expect(try container.newContext().count(Tag.all) == 0)
  }

  @Test("notifications suspend a container") func notifications() throws {
    let home = try TestFolder()
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: home.file("diary.db")))
    defer { container.close() }
    container.suspendAutomatically(
      at: SuspensionNotifications(suspending: [.diaryWillSleep], resuming: [.diaryDidWake]))
    NotificationCenter.default.post(name: .diaryWillSleep, object: nil)
    #expect(container.isSuspended)
    NotificationCenter.default.post(name: .diaryDidWake, object: nil)
    #expect(!container.isSuspended)
  }

  @Test("protection and backup are options of a store") func options() throws {
    let home = try TestFolder()
    let url = home.file("diary.db")
    let store = StoreConfiguration.sqlite(
      at: url, protection: .completeUntilFirstUserAuthentication, isInBackup: false)
    let container = try PersistentContainer(model: .diary, store: store)
    _ = Tag(in: container.newContext(), name: "rain")
    container.close()
    #expect(FileManager.default.fileExists(atPath: url.path))
  }
}

extension Notification.Name {
  fileprivate static let diaryWillSleep = Notification.Name("diaryWillSleep")
  fileprivate static let diaryDidWake = Notification.Name("diaryDidWake")
}
