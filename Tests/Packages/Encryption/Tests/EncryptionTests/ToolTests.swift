import Ciphers
import Foundation
import Testing

/// The program `trellis`, which the root package builds into the same folder, on encrypted stores.
@Suite(.enabled(if: Cipher.isPresent && Vault.hasTool), .serialized)
struct ToolTests {
  private let vault: Vault
  private var encrypted: String { vault.path + ".encrypted" }
  private var keyFile: String { vault.folder.appending(path: "key").path }

  init() throws {
    vault = try Vault()
    try vault.fill(40, seed: 7, key: nil)
    try Data("\(Vault.key)\n".utf8).write(to: URL(filePath: keyFile))
  }

  private func trellis(_ words: [String], _ keys: [String: String]) throws -> Vault.Outcome {
    var environment = keys
    environment["TRELLIS_SQLITE_LIBRARY"] = Cipher.path
    environment["LD_PRELOAD"] = ProcessInfo.processInfo.environment["TRELLIS_TEST_CIPHER_NEEDS"]
    return try vault.run(words, of: "trellis", key: nil, environment: environment)
  }

  private func encrypt() throws {
    let outcome = try trellis(["copy", vault.path, encrypted], ["TRELLIS_NEW_KEY_FILE": keyFile])
    try #require(outcome.status == 0, "\(outcome)")
  }

  @Test func encryptsAndDecryptsByCopies() throws {
    try encrypt()
    #expect(try vault.run(["check", encrypted, "7"]).output == "notes 40")
    let key = ["TRELLIS_KEY": Vault.key]
    let (plain, backup) = (vault.path + ".plain", vault.path + ".backup")
    let refused = try trellis(["copy", encrypted, plain], key)
    #expect(refused.status == 1 && refused.errors.contains("--plain"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: plain))
    #expect(try trellis(["copy", encrypted, plain, "--plain"], key).status == 0)
    #expect(try vault.run(["check", plain, "7"], key: nil).output == "notes 40")
    #expect(try trellis(["backup", encrypted, backup], key).status == 0)
    #expect(try vault.run(["check", backup, "7"]).output == "notes 40")
  }

  @Test func readsAndChecksWithTheKeyOnly() throws {
    try encrypt()
    let doctor = try trellis(["doctor", encrypted], ["TRELLIS_KEY_FILE": keyFile])
    #expect(doctor.status == 0, "\(doctor)")
    #expect(try trellis(["list", encrypted], ["TRELLIS_KEY": Vault.key]).output.contains("Note"))
    let other = try trellis(["list", encrypted], ["TRELLIS_KEY": "another"])
    #expect(other.status != 0 && other.errors.contains("[wrong-key]"), "\(other)")
    let none = try trellis(["list", encrypted], [:])
    #expect(none.status != 0 && none.errors.contains("or an encrypted one"), "\(none)")
    let missing = try trellis(["list", encrypted], ["TRELLIS_KEY_FILE": keyFile + ".gone"])
    #expect(missing.status != 0 && missing.errors.contains("TRELLIS_KEY_FILE"), "\(missing)")
  }

  @Test func changesTheKey() throws {
    try encrypt()
    let keys = ["TRELLIS_KEY_FILE": keyFile, "TRELLIS_NEW_KEY": Vault.next]
    #expect(try trellis(["rekey", encrypted], ["TRELLIS_KEY_FILE": keyFile]).errors.contains("TRELLIS_NEW_KEY"))
    let changed = try trellis(["rekey", encrypted], keys)
    #expect(changed.status == 0, "\(changed)")
    #expect(try vault.run(["check", encrypted, "7"], key: Vault.next).output == "notes 40")
    #expect(try trellis(["rekey", encrypted], keys).errors.contains("[wrong-key]"))
    #expect(try trellis(["rekey", vault.path], keys).errors.contains("[not-encrypted]"))
  }
}
