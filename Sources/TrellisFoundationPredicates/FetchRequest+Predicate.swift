public import Foundation
import TrellisQuery
public import TrellisRuntime

extension FetchRequest {
  /// The request with an additional Foundation predicate, combined by "and".
  ///
  /// ```swift
  /// let keyword = "커피"
  /// let request = try EmotionDiary.all.where(#Predicate { $0.content.contains(keyword) && $0.images.count > 1 })
  /// ```
  /// The model must set `"foundationPredicates": true`, so that its classes have key paths for their properties. The
  /// predicate is not evaluated: it is translated to the same tree as every other predicate, and the store evaluates
  /// that. So texts are compared by their bytes, and `!` returns nil instead of trapping; see `Docs/Predicates.md`.
  ///
  /// - Throws: ``PredicateImportError`` for an expression without counterpart, such as a property that the model does
  ///   not have.
  /// - Complexity: linear in the number of the predicate's expressions; a few microseconds for a few terms.
  public func `where`(_ predicate: Predicate<Columns.Object>) throws(PredicateImportError) -> FetchRequest {
    let condition = try QueryCondition(predicate)
    return self.where { _ in condition }
  }

  /// The request with an additional Foundation predicate, combined by "or".
  ///
  /// - Throws: ``PredicateImportError`` for an expression without counterpart, such as a property that the model does
  ///   not have.
  public func or(_ predicate: Predicate<Columns.Object>) throws(PredicateImportError) -> FetchRequest {
    let condition = try QueryCondition(predicate)
    return self.or { _ in condition }
  }
}

extension QueryCondition {
  /// The condition of a Foundation predicate on objects of a class.
  ///
  /// - Throws: ``PredicateImportError`` for an expression without counterpart.
  init<Object: ManagedObject>(_ predicate: Predicate<Object>) throws(PredicateImportError) {
    var reading = PredicateReading()
    reading.variables[predicate.variable.key] = .object(PropertyPath(variable: 0))
    self.init(try reading.condition(predicate.expression))
  }
}
