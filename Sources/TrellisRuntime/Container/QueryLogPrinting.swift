import Foundation
public import TrellisStorage

extension QueryLog {
  /// Prints each request to standard error, without values.
  public static let printed = printing(values: false)

  /// Prints each request with its values, which may be user data.
  public static let printedWithValues = printing(values: true)

  /// What the environment variable `TRELLIS_LOG` asked for when the program began; nil when it did not.
  public static let fromEnvironment = wanted(by: ProcessInfo.processInfo.environment["TRELLIS_LOG"] ?? "")

  /// The log of a list of words: `queries`, and `values` beside it.
  package static func wanted(by setting: String) -> QueryLog? {
    let words = setting.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    guard words.contains("queries") else { return nil }
    return words.contains("values") ? printedWithValues : printed
  }

  private static func printing(values: Bool) -> QueryLog {
    QueryLog(includesValues: values) { entry in
      FileHandle.standardError.write(Data("Trellis: \(entry)\n".utf8))
    }
  }
}
