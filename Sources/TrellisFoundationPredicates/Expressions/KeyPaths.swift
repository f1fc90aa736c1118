import Foundation
import TrellisQuery
@_spi(Generated) import TrellisRuntime

extension PredicateExpressions.KeyPath: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    switch try reading.term(root) {
    case .object(let path): return try property(path)
    case .members(let members): return try aspect(of: members)
    case .value(let text) where text.kind == .text: return try aspect(of: text)
    case .scalars(let text) where keyPath == \String.UnicodeScalarView.count:
      return .value(try text.map(.integer) { .computed(.function(.length, $0)) })
    default: throw unknown(Root.Output.self)
    }
  }

  /// The term for a property of an object.
  private func property(_ path: PropertyPath) throws(PredicateImportError) -> ImportedTerm {
    guard let object = type(of: keyPath).rootType as? ManagedObject.Type else { throw unknown(Root.Output.self) }
    let table = object._keyPaths
    guard !table.isEmpty else {
      throw PredicateImportError(
        code: .noKeyPaths,
        message: "\(object) does not know its key paths. Put \"foundationPredicates\": true into its model file.")
    }
    guard let number = table.number(of: keyPath) else { throw unknown(object) }
    if number == KeyPathTable.identity { return .value(ImportedValue(.path(path), .integer)) }
    let end = path.appending(number)
    if Output.self is any ToManyView.Type { return .members(ImportedMembers(path: end)) }
    if Output.self is any ObjectReference.Type { return .object(end) }
    guard let kind = ImportedKind(Output.self) else { throw unknown(object) }
    return .value(ImportedValue(.path(end), kind.kind))
  }

  private func aspect(of members: ImportedMembers) throws(PredicateImportError) -> ImportedTerm {
    let paths = Root.Output.self as? any CountedCollection.Type
    if let paths, paths.countPath == keyPath { return .value(members.count) }
    if let paths, paths.isEmptyPath == keyPath { return .condition(members.isEmpty) }
    throw .unsupported("This about a to-many's members", "There are count, isEmpty, contains, allSatisfy and filter.")
  }

  private func aspect(of text: ImportedValue) throws(PredicateImportError) -> ImportedTerm {
    switch keyPath as AnyKeyPath {
    case \String.isEmpty: return .condition(text.compared(.equal, ImportedValue(.value(.text("")), .text)))
    case \String.unicodeScalars: return .scalars(text)
    case \String.count:
      throw .unsupported(
        "The number of a text's characters", "Ask for its unicodeScalars.count, as lengths count those.")
    default: throw unknown(String.self)
    }
  }

  private func unknown(_ type: Any.Type) -> PredicateImportError {
    PredicateImportError(
      code: .unknownProperty,
      message: "\(type) has no property of the model at a key path of this predicate, which leads to '\(Output.self)'. "
        + "Ask about the stored properties from which it is made.")
  }
}

/// A reference to an object, or nil.
private protocol ObjectReference {}

extension Optional: ObjectReference where Wrapped: ManagedObject {}

/// A collection of members, with the key paths to its own properties, such as `count`.
private protocol CountedCollection {
  static var countPath: AnyKeyPath { get }
  static var isEmptyPath: AnyKeyPath { get }
}

extension ToMany: CountedCollection {
  fileprivate static var countPath: AnyKeyPath { \ToMany<Member>.count }
  fileprivate static var isEmptyPath: AnyKeyPath { \ToMany<Member>.isEmpty }
}

extension OrderedToMany: CountedCollection {
  fileprivate static var countPath: AnyKeyPath { \OrderedToMany<Member>.count }
  fileprivate static var isEmptyPath: AnyKeyPath { \OrderedToMany<Member>.isEmpty }
}

extension Array: CountedCollection where Element: ManagedObject {
  fileprivate static var countPath: AnyKeyPath { \[Element].count }
  fileprivate static var isEmptyPath: AnyKeyPath { \[Element].isEmpty }
}
