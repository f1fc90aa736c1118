import Foundation
public import TrellisStorage

extension QueryLog {
  /// Prints each request to standard error, without values.
  public static let printed = printing(values: false)

  /// Prints each request with its values, which may be user data.
  public static let printedWithValues = printing(values: true)

  /// The log that the environment variable `TRELLIS_LOG` requested at the start of the process; nil if it did not. An
  /// unknown word in it is reported once, on standard error.
  public static let fromEnvironment: QueryLog? = {
    let setting = ProcessInfo.processInfo.environment["TRELLIS_LOG"] ?? ""
    if let complaint = complaint(about: setting) {
      FileHandle.standardError.write(Data("Trellis: \(complaint)\n".utf8))
    }
    return wanted(by: setting)
  }()

  /// The log for a list of words: `queries`, optionally with `values`.
  package static func wanted(by setting: String) -> QueryLog? {
    let words = words(of: setting)
    guard words.contains("queries") else { return nil }
    return words.contains("values") ? printedWithValues : printed
  }

  /// The error in a list of words; nil if there is none.
  package static func complaint(about setting: String) -> String? {
    let words = words(of: setting)
    let isUnknown = words.contains { $0 != "queries" && $0 != "values" }
    guard isUnknown || (words.contains("values") && !words.contains("queries")) else { return nil }
    return "TRELLIS_LOG=\(setting) is not understood. Set it to \"queries\", or to \"queries,values\" for values too."
  }

  private static func words(of setting: String) -> [String] {
    setting.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private static func printing(values: Bool) -> QueryLog {
    QueryLog(includesValues: values) { entry in
      FileHandle.standardError.write(Data("Trellis: \(entry)\n".utf8))
    }
  }
}
