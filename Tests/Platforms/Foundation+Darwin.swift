// What Foundation and the Objective-C runtime declare on Apple's platforms only, as far as the sources use it. It is imported into
// every file of a check for these platforms.
public import Foundation

public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

extension FileManager {
  public func startDownloadingUbiquitousItem(at url: URL) throws {}
}

extension PredicateExpressions {
  public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Root.Output: StringProtocol, Other.Output: StringProtocol {
    public typealias Output = Bool
    public let root: Root
    public let other: Other
    public init(root: Root, other: Other) {
      self.root = root
      self.other = other
    }
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool { false }
  }

  public static func build_localizedStandardContains<Root, Other>(
    _ root: Root, _ other: Other
  ) -> StringLocalizedStandardContains<Root, Other> {
    StringLocalizedStandardContains(root: root, other: other)
  }
}
