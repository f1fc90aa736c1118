import Foundation
import Testing
import TrellisModel
@testable import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@Suite("A document has one writer, and what others do to it is noticed") struct SharingTests {
  private let folder: TestFolder
  private let model: Model
  private let store: JSONStore
  private var path: String { folder.path("library.json") }

  init() throws {
    folder = try TestFolder()
    model = try Library.model()
    store = try JSONStore(path: folder.path("library.json"), model: model)
    try store.insertGraph(model)
  }

  private func tag(_ key: Int64) throws -> Record { try Record(model, "Tag", key, ["label": .text("new")]) }

  @Test("a second writer is refused until the first closes; readers are not")
  func oneWriter() throws {
    let error = #expect(throws: StoreError.self) { try JSONStore(path: path, model: model) }
    #expect(error?.code == .busy)
    let reader = try JSONStore(path: path, model: model, options: DocumentOptions(readOnly: true))
    #expect(try reader.everything(model) == store.everything(model))
    #expect(throws: StoreError.self) { try reader.insert([tag(90)]) }
    store.close()
    #expect(throws: StoreError.self) { try store.insert([tag(90)]) }
    try JSONStore(path: path, model: model).insert([tag(90)])
  }

  #if os(Linux)
    @Test("a lock that is given back is free, although a process that is being started has a copy of its descriptor")
    func copiedDescriptor() throws {
      let copies = try descriptors(of: folder.path(".library.json.lock")).map { dup($0) }
      #expect(copies.count == 1)
      defer { for copy in copies { close(copy) } }
      store.close()
      try JSONStore(path: path, model: model).insert([tag(90)])
    }

    /// The descriptors of this process that lead to a file.
    private func descriptors(of path: String) throws -> [Int32] {
      let own = URL(filePath: "/proc/self/fd")
      let names = try FileManager.default.contentsOfDirectory(atPath: own.path)
      return names.compactMap(Int32.init).filter { number in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: own.path + "/\(number)"))?.hasSuffix(path) == true
      }
    }
  #endif

  @Test("a change by another program is noticed by the next fetch and save, and not overwritten")
  func changed() throws {
    let text = try String(contentsOfFile: path, encoding: .utf8).replacing("novel", with: "essay")
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    let fetched = #expect(throws: StoreError.self) { try store.rows(model, "Tag") }
    #expect(fetched?.code == .changedByOthers)
    let saved = #expect(throws: StoreError.self) { try store.insert([tag(90)]) }
    #expect(saved?.code == .changedByOthers)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    store.close()
    #expect(try JSONStore(path: path, model: model).rows(model, "Tag")[0][2] == .text("essay"))
  }

  @Test("a change of the same length at the same time is noticed by the next save")
  func sameStamp() throws {
    let url = URL(filePath: path)
    let modified = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    let text = try String(contentsOfFile: path, encoding: .utf8).replacing("novel", with: "essay")
    try text.write(to: url, atomically: false, encoding: .utf8)
    if let modified { try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: path) }
    #expect(throws: StoreError.self) { try store.insert([tag(90)]) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test("the same content written again, or touched, is no change")
  func touched() throws {
    let data = try Data(contentsOf: URL(filePath: path))
    try data.write(to: URL(filePath: path), options: .atomic)
    #expect(try store.rows(model, "Tag").count == 1)
    try store.insert([tag(90)])
    #expect(try store.rows(model, "Tag").count == 2)
  }

  @Test("a document that is removed while it is open is noticed, and not made again")
  func removed() throws {
    try FileManager.default.removeItem(atPath: path)
    #expect(throws: StoreError.self) { try store.rows(model, "Tag") }
    #expect(throws: StoreError.self) { try store.insert([tag(90)]) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a new document is its owner's alone; one that others may read stays so")
  func permissions() throws {
    func rights() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try rights() == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try store.insert([tag(90)])
    #expect(try rights() == 0o644)
  }

  @Test("a symbolic link stays one, and the document behind it is written")
  func link() throws {
    let link = folder.path("link.json")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    store.close()
    try JSONStore(path: link, model: model).insert([tag(90)])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    #expect(try JSONStore(path: path, model: model).rows(model, "Tag").count == 2)
  }

  @Test("readers go on with what they began with while others save; savers take turns")
  func threads() async throws {
    let start = try store.reserveKeys(100).lowerBound
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for step in 0..<10 {
            try store.insert([tag(start + Int64(number * 10 + step))])
            _ = try store.rows(model, "Tag")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.rows(model, "Tag").count == 81)
  }

  @Test("a missing folder, a folder in place of the file, and a missing file to read are errors that say so")
  func cannotOpen() throws {
    for path in [folder.path("none/a.json"), folder.url.path] {
      let error = #expect(throws: StoreError.self) { try JSONStore(path: path, model: model) }
      #expect(error?.code == .cannotOpen)
    }
    let error = #expect(throws: StoreError.self) {
      try JSONStore(path: folder.path("none.json"), model: model, options: DocumentOptions(readOnly: true))
    }
    #expect(error?.code == .cannotOpen && error?.message.contains("no such file") == true)
  }
}
