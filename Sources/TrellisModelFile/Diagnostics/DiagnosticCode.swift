/// The stable name of a kind of problem. Each kind has a section in `Docs/ModelErrors.md`.
public enum DiagnosticCode: String, Hashable, Sendable, CaseIterable {
  // The text
  case fileTooLarge = "file-too-large"
  case badUTF8 = "bad-utf8"
  case malformedJSON = "malformed-json"
  case comment = "comment"
  case trailingComma = "trailing-comma"
  case singleQuotes = "single-quotes"
  case unterminatedString = "unterminated-string"
  case badEscape = "bad-escape"
  case badNumber = "bad-number"
  case tooDeep = "too-deep"
  case duplicateKey = "duplicate-key"

  // The grammar
  case wrongType = "wrong-type"
  case unknownKey = "unknown-key"
  case missingKey = "missing-key"
  case unknownWord = "unknown-word"
  case badCount = "bad-count"
  case contradictoryOptional = "contradictory-optional"
  case tooMany = "too-many"

  // Names
  case badName = "bad-name"
  case nameTooLong = "name-too-long"
  case reservedName = "reserved-name"
  case nameClash = "name-clash"
  case caseClash = "case-clash"
  case shadowedType = "shadowed-type"

  // Enums
  case emptyEnum = "empty-enum"
  case reservedCase = "reserved-case"
  case duplicateCase = "duplicate-case"
  case duplicateRawValue = "duplicate-raw-value"
  case unknownCase = "unknown-case"

  // Entities
  case unknownEntity = "unknown-entity"
  case parentCycle = "parent-cycle"
  case parentChainTooLong = "parent-chain-too-long"
  case propertyRedeclared = "property-redeclared"
  case abstractWithoutChildren = "abstract-without-children"
  case renameClash = "rename-clash"

  // Attributes
  case unknownType = "unknown-type"
  case ruleMismatch = "rule-mismatch"
  case emptyRange = "empty-range"
  case invalidPattern = "invalid-pattern"
  case optionMismatch = "option-mismatch"
  case defaultMismatch = "default-mismatch"
  case defaultBreaksRule = "default-breaks-rule"

  // Relationships
  case missingInverse = "missing-inverse"
  case unknownInverse = "unknown-inverse"
  case asymmetricInverse = "asymmetric-inverse"
  case inverseDestination = "inverse-destination"
  case selfInverse = "self-inverse"
  case transientMismatch = "transient-mismatch"
  case orderedToOne = "ordered-to-one"
  case countOnToOne = "count-on-to-one"
  case emptyCountRange = "empty-count-range"
  case unsatisfiableDelete = "unsatisfiable-delete"
  case requiredCircle = "required-circle"

  // Keys, indexes and fetch requests
  case unknownProperty = "unknown-property"
  case noColumn = "no-column"
  case repeatedEntry = "repeated-entry"
  case badSort = "bad-sort"
  case badPrefetch = "bad-prefetch"
  case badPredicate = "bad-predicate"
}
