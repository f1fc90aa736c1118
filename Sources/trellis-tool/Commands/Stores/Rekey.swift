import Foundation
import TrellisStorage

/// `trellis rekey`: an encrypted store gets another key.
enum Rekey {
  static func run(_ path: String) throws(ToolFailure) -> ExitStatus {
    try InputFile.needRegular(path)
    guard let next = try StoreKey.next() else {
      throw ToolFailure(
        .failure, "error: No new key was given. Put it in TRELLIS_NEW_KEY, or its file in TRELLIS_NEW_KEY_FILE.")
    }
    // Without a present key, the error says what the file is.
    let key = try StoreKey.of(path) ?? { Data() }
    do { try EncryptedStore.changeKey(at: URL(filePath: path), from: key, to: next) } catch {
      throw ToolFailure(store: error, path)
    }
    return .success
  }
}

// MARK: - Command

extension Rekey {
  static let command = Command(
    operands: "STORE", needed: "a STORE", count: 1...1,
    summary: "encrypt a store with another key",
    details: """
      The present key is in TRELLIS_KEY, the next one in TRELLIS_NEW_KEY, or in the files that TRELLIS_KEY_FILE and
      TRELLIS_NEW_KEY_FILE name. No program may have STORE open. If the command is killed, STORE has the one key or the other.
      """
  ) { arguments throws(ToolFailure) in try run(arguments.operands[0]) }
}
