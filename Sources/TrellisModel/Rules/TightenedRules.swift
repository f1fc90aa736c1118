extension AttributeRules {
  /// The words of the rules that a value may break although it keeps the former ones.
  ///
  /// - Parameters:
  ///   - former: the rules that the values kept; nil if none are known.
  ///   - type: the type of the values.
  package func tightened(since former: AttributeRules?, _ type: AttributeType) -> [String] {
    let kind: ValueKind = type == .decimal ? .decimal : .text
    func isHigher(_ bound: StoredValue, _ former: StoredValue?) -> Bool {
      former.map { ValueOrder.compare(bound, $0, kind: kind) > 0 } ?? true
    }
    func isLower(_ bound: StoredValue, _ former: StoredValue?) -> Bool {
      former.map { ValueOrder.compare(bound, $0, kind: kind) < 0 } ?? true
    }
    var words: [String] = []
    if let minimum, isHigher(minimum, former?.minimum) { words.append("min") }
    if let maximum, isLower(maximum, former?.maximum) { words.append("max") }
    if let minimumLength, minimumLength > former?.minimumLength ?? 0 { words.append("minLength \(minimumLength)") }
    if let maximumLength, maximumLength < former?.maximumLength ?? .max { words.append("maxLength \(maximumLength)") }
    if let pattern, former?.pattern.map({ !TextBytes.areEqual($0, pattern) }) ?? true { words.append("pattern") }
    return words
  }
}

extension Relationship {
  /// The words of the rules that an object may break although its links keep those of a former relationship.
  ///
  /// - Parameter former: the former relationship; nil if the links come from anywhere.
  package func tightenedCounts(since former: Relationship?) -> [String] {
    if !isToMany { return isRequired && !(former?.leastCount ?? 0 > 0) ? ["required"] : [] }
    var words: [String] = []
    if let minimumCount, minimumCount > 0 {
      let mayBeEmpty = former.map { $0.leastCount == 0 || $0.isToMany && $0.isOptional } ?? true
      if minimumCount > former?.leastCount ?? 0 || !isOptional && mayBeEmpty {
        words.append("minCount \(minimumCount)")
      }
    }
    if let maximumCount, maximumCount < former?.mostCount ?? .max { words.append("maxCount \(maximumCount)") }
    return words
  }

  /// The least number of partners, if there are any.
  package var leastCount: Int { isToMany ? minimumCount ?? 0 : isRequired ? 1 : 0 }

  /// The greatest number of partners.
  package var mostCount: Int { isToMany ? maximumCount ?? .max : 1 }

  /// Whether the rules allow an object with this number of partners.
  package func allows(_ count: Int) -> Bool {
    count <= mostCount && (count >= leastCount || isToMany && isOptional && count == 0)
  }
}
