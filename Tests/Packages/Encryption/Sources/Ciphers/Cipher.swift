import CCipherLibrary
import Foundation
import Trellis

/// The library with encryption that the environment names.
public enum Cipher {
  private static let environment = ProcessInfo.processInfo.environment

  public static var isPresent: Bool { environment["TRELLIS_TEST_CIPHER"] != nil }

  public static let path = environment["TRELLIS_TEST_CIPHER"] ?? ""

  /// Whether the library is chosen by a table of functions, and not by its path.
  public static let isTable = environment["TRELLIS_TEST_CIPHER_TABLE"] != nil

  /// Chooses the library for this process.
  public static func use() throws {
    guard isPresent else { return }
    try loadNeeded.get()
    guard isTable else { return try SQLiteLibrary.file(path).use() }
    try table.get().use()
  }

  /// Loads the library that the other one needs.
  public static let loadNeeded = Result {
    if let needed = environment["TRELLIS_TEST_CIPHER_NEEDS"], cipher_load_needed(needed) == 0 { throw missing }
  }

  private static let table = Result {
    guard let table = cipher_library(path) else { throw missing }
    return SQLiteLibrary.functions(table)
  }

  private static var missing: StoreError {
    StoreError(.libraryUnavailable, "The library of the test cannot be loaded.", remedy: "See the error output.")
  }

  /// The key in a variable; nil if there is none.
  public static func key(_ name: String) -> (@Sendable () throws -> Data)? {
    environment[name].map { text in { @Sendable in Data(text.utf8) } }
  }
}

/// Random values that a seed brings again.
public enum Secret {
  public static func text(_ seed: UInt64, _ number: Int) -> String {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(number)
    return (0..<2).map { _ in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      let digits = String(mixed ^ mixed >> 31, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// A picture, which contains the text again and again.
  public static func picture(_ text: String) -> Data { Data(String(repeating: text, count: 4_000).utf8) }
}
