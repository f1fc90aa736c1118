// Opens a store with the next version of its model, and counts its notes.
import Ciphers
import Foundation
import Trellis

do {
  try Cipher.use()
  let container = try PersistentContainer(
    model: .vault,
    store: .sqlite(
      at: URL(filePath: CommandLine.arguments[1]), migration: .allowingDataLoss, key: Cipher.key("VAULT_KEY")),
    log: nil)
  for finding in try container.check() { print("found \(finding)") }
  print("notes \(try container.newContext().count(Note.all))")
  container.close()
} catch let error as StoreError {
  print("error \(error.code.rawValue)")
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
