import Ciphers
import Foundation
import Testing
import Trellis
import TrellisStoreTesting

@Suite(.enabled(if: Cipher.isPresent), .serialized)
struct EncryptionTests {
  private let seed = UInt64.random(in: 1...1_000_000)
  private static let kills = Int(ProcessInfo.processInfo.environment["TRELLIS_KILL_CYCLES"] ?? "") ?? 5

  // MARK: A store as any other

  @Test func encryptedStoreObeysTheRulesOfAllStores() throws {
    try Cipher.use()
    let vault = try Vault()
    let failures = StoreConformance { model in
      let url = vault.folder.appending(path: "\(UUID().uuidString).store")
      return try StoreConfiguration.sqlite(at: url, filesAbove: 1_000, key: { Data(Vault.key.utf8) }).open(model)
    }.runAll()
    #expect(failures == [])
    #expect(vault.names.filter { $0.hasSuffix(".external") } == [])
  }

  // MARK: What lies on the disk

  @Test func noFileContainsPlainText() throws {
    let vault = try Vault()
    try vault.fill(1_000, seed: seed)
    #expect(try vault.run(["backup", vault.path, vault.path + ".copy"]).status == 0)
    #expect(try vault.run(["check", vault.path + ".copy", "\(seed)"]).output == "notes 1000")
    #expect(try vault.run(["rekey", vault.path], next: Vault.next).status == 0)
    let migrated = try vault.run([vault.path], of: "keeper-next", key: Vault.next)
    #expect(migrated.output == "notes 1000", "\(migrated)")
    #expect(vault.names.contains { $0.contains(".before-") })
    #expect(try vault.filesWithPlainText(1_000, seed: seed) == [], "seed \(seed)")
  }

  @Test func plainStoreIsFoundToContainPlainText() throws {
    let vault = try Vault()
    try vault.fill(1_000, seed: seed, key: nil)
    #expect(try !vault.filesWithPlainText(1_000, seed: seed).isEmpty)
  }

  @Test func noFileContainsPlainTextAfterKillsDuringSaves() throws {
    let vault = try Vault()
    for _ in 0..<Self.kills {
      let (process, output, _, _) = try vault.start(["loop", vault.path, "\(seed)"])
      // At least one save has returned.
      _ = output.fileHandleForReading.availableData
      usleep(UInt32.random(in: 0...200_000))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      #expect(try vault.filesWithPlainText(1_000, seed: seed) == [], "seed \(seed)")
      let check = try vault.run(["check", vault.path, "\(seed)"])
      #expect(check.output.wholeMatch(of: /notes [0-9]+0/) != nil, "\(check)")
    }
  }

  @Test func noFileContainsPlainTextAfterKillsDuringMigrations() throws {
    let vault = try Vault()
    try vault.fill(200, seed: seed)
    var steps = 0
    for step in stride(from: 1, through: 4_000, by: 23) {
      let copy = try vault.copy()
      let outcome = try copy.run([copy.path], of: "keeper-next", step: step)
      #expect(try copy.filesWithPlainText(200, seed: seed) == [], "seed \(seed), step \(step)")
      let next = try copy.run([copy.path], of: "keeper-next")
      #expect(next.output == "notes 200", "step \(step): \(next)")
      steps += 1
      if !outcome.wasKilled { break }
    }
    #expect(steps > 3)
  }

  // MARK: Keys

  @Test func anotherKeyIsRefusedAndChangesNothing() throws {
    let vault = try Vault()
    try vault.fill(20, seed: seed)
    let before = try Data(contentsOf: URL(filePath: vault.path))
    let outcome = try vault.run(["check", vault.path, "0"], key: Vault.next)
    #expect(outcome.output == "error wrong-key", "\(outcome)")
    #expect(!outcome.errors.contains(Vault.next.dropFirst(2).dropLast()))
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    #expect(vault.names == ["vault.store"])
  }

  @Test func anotherKeyChangesNothingInWhatAKilledProgramHasLeft() throws {
    let vault = try Vault()
    let (process, output, _, _) = try vault.start(["loop", vault.path, "\(seed)"])
    _ = output.fileHandleForReading.availableData
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let endings = ["", "-wal"]
    let before = try endings.map { try Data(contentsOf: URL(filePath: vault.path + $0)) }
    #expect(try vault.run(["check", vault.path, "0"], key: Vault.next).output == "error wrong-key")
    #expect(try endings.map { try Data(contentsOf: URL(filePath: vault.path + $0)) } == before)
  }

  @Test func encryptedStoreWithoutKeyAndPlainStoreWithKeyAreRefused() throws {
    let (encrypted, plain) = (try Vault(), try Vault())
    try encrypted.fill(20, seed: seed)
    try plain.fill(20, seed: seed, key: nil)
    #expect(try encrypted.run(["check", encrypted.path, "0"], key: nil).output == "error foreign-file")
    #expect(try plain.run(["check", plain.path, "0"]).output == "error not-encrypted")
    #expect(try plain.run(["check", plain.path, "\(seed)"], key: nil).output == "notes 20")
  }

  @Test func emptyKeyIsRefusedBeforeAnythingIsWritten() throws {
    let vault = try Vault()
    #expect(try vault.run(["fill", vault.path, "1", "10"], key: "").output == "error no-key")
    #expect((try? Data(contentsOf: URL(filePath: vault.path)))?.isEmpty ?? true)
  }

  @Test func damageBeyondTheFirstPageIsNoWrongKey() throws {
    let vault = try Vault()
    try vault.fill(200, seed: seed)
    var bytes = try Data(contentsOf: URL(filePath: vault.path))
    for place in stride(from: 4_096 + 100, to: bytes.count, by: 4_096) { bytes[place] ^= 0xFF }
    try bytes.write(to: URL(filePath: vault.path))
    let outcome = try vault.run(["check", vault.path, "\(seed)"])
    #expect(outcome.output.hasPrefix("error damaged") || outcome.output.contains("found"), "\(outcome)")
    bytes[1_000] ^= 0xFF
    try bytes.write(to: URL(filePath: vault.path))
    #expect(try vault.run(["check", vault.path, "\(seed)"]).output == "error wrong-key")
  }

  // MARK: Another key

  @Test func keyIsNotChangedWhileAProgramHasTheStoreOpen() throws {
    let vault = try Vault()
    try vault.fill(20, seed: seed)
    let (process, output, input, _) = try vault.start(["hold", vault.path])
    _ = output.fileHandleForReading.availableData
    let refused = try vault.run(["rekey", vault.path], next: Vault.next)
    #expect(refused.output == "error busy", "\(refused)")
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    let changed = try vault.run(["rekey", vault.path], next: Vault.next)
    #expect(changed.status == 0, "\(changed)")
    #expect(try vault.run(["check", vault.path, "\(seed)"], key: Vault.next).output == "notes 20")
    #expect(try vault.run(["check", vault.path, "\(seed)"]).output == "error wrong-key")
  }

  @Test func keyIsTheFormerOrTheNextOneAfterAKillAtEachStep() throws {
    let vault = try Vault()
    try vault.fill(40, seed: seed)
    var outcomes = ["former": 0, "next": 0]
    for step in 1...2_000 {
      let copy = try vault.copy()
      let outcome = try copy.run(["rekey", copy.path], next: Vault.next, step: step)
      // Whichever key is tried first, the other one still works.
      let order = step % 2 == 0 ? [Vault.key, Vault.next] : [Vault.next, Vault.key]
      let found = try order.map { try copy.run(["check", copy.path, "\(seed)"], key: $0) }
      let fitting = zip(order, found).filter { $1.output == "notes 40" }.map(\.0)
      #expect(fitting.count == 1, "step \(step): \(found)")
      #expect(found.contains { $0.output == "error wrong-key" }, "step \(step): \(found)")
      outcomes[fitting.first == Vault.key ? "former" : "next", default: 0] += 1
      if !outcome.wasKilled { break }
    }
    print("kills that left the former key: \(outcomes["former"] ?? 0), the next one: \(outcomes["next"] ?? 0)")
    #expect(outcomes["former"] ?? 0 > 5)
    #expect(outcomes["next"] ?? 0 > 0)
  }

  // MARK: Copies

  @Test func storeIsEncryptedAndDecryptedByACopy() throws {
    let vault = try Vault()
    try vault.fill(60, seed: seed, key: nil)
    let (encrypted, plain) = (vault.path + ".encrypted", vault.path + ".plain")
    let first = try vault.run(["copy", vault.path, encrypted], key: nil, next: Vault.key)
    #expect(first.status == 0, "\(first)")
    #expect(try vault.run(["check", encrypted, "\(seed)"]).output == "notes 60")
    #expect(!vault.names.contains("vault.store.encrypted.external"))
    let second = try vault.run(["copy", encrypted, plain])
    #expect(second.status == 0, "\(second)")
    #expect(try vault.run(["check", plain, "\(seed)"], key: nil).output == "notes 60")
    #expect(try vault.run(["copy", encrypted, plain]).output == "error file-exists")
  }
}
