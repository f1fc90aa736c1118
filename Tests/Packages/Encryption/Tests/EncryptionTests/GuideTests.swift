import Ciphers
import Foundation
import Testing
import Trellis

/// The samples of `Docs/Encryption.md`, which stand here line by line; a test of the root package compares both.
@Suite(.enabled(if: Cipher.isPresent && !Cipher.isTable), .serialized)
struct GuideTests {
  private let vault: Vault
  private let url: URL

  init() throws {
    vault = try Vault()
    url = URL(filePath: vault.path)
    try Cipher.loadNeeded.get()
  }

  @Test func storeWithAKey() throws {
    let path = Cipher.path
    let keychain = Keychain()
    try SQLiteLibrary.file(path).use()
    let store = StoreConfiguration.sqlite(at: url, key: { try keychain.key() })
    let container = try PersistentContainer(model: .journal, store: store)
    #expect(try Data(contentsOf: url).starts(with: Data("SQLite".utf8)) == false)
    container.close()
  }

  @Test func rawKey() throws {
    try Cipher.use()
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let key = Data("x'\(digits)'".utf8)
    #expect(key.count == 67)
    try PersistentContainer(model: .journal, store: .sqlite(at: url, key: { key })).close()
  }

  @Test func changedKey() throws {
    try Cipher.use()
    let keychain = Keychain()
    let former = try keychain.key()
    try PersistentContainer(model: .journal, store: .sqlite(at: url, key: { former })).close()
    let next = Data("the next one".utf8)
    keychain.set(next, for: "next")
    try EncryptedStore.changeKey(at: url, from: { former }, to: { next })
    keychain.set(next, for: "present")
    let container = try open(url, with: [former, next])
    #expect(try container.newContext().count(Entry.all) == 0)
    container.close()
  }

  /// Opens a store with the first key that it has.
  func open(_ url: URL, with keys: [Data]) throws -> PersistentContainer {
    for key in keys.dropLast() {
      do {
        return try PersistentContainer(model: .journal, store: .sqlite(at: url, key: { key }))
      } catch let error as StoreError where error.code == .wrongKey {
        continue
      }
    }
    return try PersistentContainer(model: .journal, store: .sqlite(at: url, key: { keys.last ?? Data() }))
  }

  @Test func encryptedCopy() throws {
    try Cipher.use()
    let (plain, encrypted) = (url, vault.folder.appending(path: "encrypted"))
    try PersistentContainer(model: .journal, store: .sqlite(at: plain)).close()
    let key = Data("a key".utf8)
    try EncryptedStore.copy(at: plain, key: nil, to: encrypted, key: { key })
    try FileManager.default.removeItem(at: plain)
    try PersistentContainer(model: .journal, store: .sqlite(at: encrypted, key: { key })).close()
  }
}

/// What keeps keys.
private final class Keychain: @unchecked Sendable {
  private let lock = NSLock()
  private var keys = ["present": Data("x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'".utf8)]

  func key() throws -> Data { lock.withLock { keys["present"] ?? Data() } }
  func set(_ key: Data, for name: String) { lock.withLock { keys[name] = key } }
}
