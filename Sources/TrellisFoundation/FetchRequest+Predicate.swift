public import Foundation
import TrellisQuery
public import TrellisRuntime

extension FetchRequest {
  /// The request with a predicate of Foundation, which must hold too.
  ///
  /// ```swift
  /// let keyword = "커피"
  /// let request = try EmotionDiary.all.where(#Predicate { $0.content.contains(keyword) && $0.images.count > 1 })
  /// ```
  /// The model has to say `"foundationPredicates": true`, so that its classes know their key paths. The predicate is not
  /// evaluated: it becomes the same tree as every other predicate, and is answered by the store. So texts are compared by
  /// their bytes, and `!` gives nil in place of an error; see `Docs/Predicates.md`.
  ///
  /// - Throws: ``PredicateImportError`` for what has no counterpart, such as a property that the model does not have.
  /// - Complexity: linear in the number of the predicate's expressions; a few microseconds for a few terms.
  public func `where`(_ predicate: Predicate<Columns.Object>) throws(PredicateImportError) -> FetchRequest {
    let condition = try QueryCondition(predicate)
    return self.where { _ in condition }
  }

  /// The request for what it is for already, and for the objects for which a predicate of Foundation holds.
  ///
  /// - Throws: ``PredicateImportError`` for what has no counterpart, such as a property that the model does not have.
  public func or(_ predicate: Predicate<Columns.Object>) throws(PredicateImportError) -> FetchRequest {
    let condition = try QueryCondition(predicate)
    return self.or { _ in condition }
  }
}

extension QueryCondition {
  /// The condition that a predicate of Foundation states about objects of a class.
  ///
  /// - Throws: ``PredicateImportError`` for what has no counterpart.
  init<Object: ManagedObject>(_ predicate: Predicate<Object>) throws(PredicateImportError) {
    var reading = PredicateReading()
    reading.variables[predicate.variable.key] = .object(PropertyPath(variable: 0))
    self.init(try reading.condition(predicate.expression))
  }
}
