internal import CSQLite
import TrellisQuery
import TrellisSQL
import TrellisSchema

/// The SQL functions for computations. They share the code for evaluation in memory, because SQLite's own arithmetic
/// converts integers to reals on overflow, fails in sums, and has no decimals.
enum ValueFunctions {
  /// Adds to a connection:
  /// - `trellis_compute(operator, a, b)` and `trellis_apply(function, a)`. Their first argument is the operator's or
  ///   function's number;
  /// - the aggregates `trellis_sum_…(value)` and `trellis_average_…(value)` for each kind of number.
  static func add(to handle: OpaquePointer) -> Int32 {
    let aggregates: [(String, SQLFunction.Final)] = [
      ("trellis_sum_integer", { ValueFunctions.finish($0, .sum, .integer) }),
      ("trellis_sum_decimal", { ValueFunctions.finish($0, .sum, .decimal) }),
      ("trellis_sum_real", { ValueFunctions.finish($0, .sum, .real) }),
      ("trellis_average_integer", { ValueFunctions.finish($0, .average, .integer) }),
      ("trellis_average_decimal", { ValueFunctions.finish($0, .average, .decimal) }),
      ("trellis_average_real", { ValueFunctions.finish($0, .average, .real) }),
    ]
    var code = SQLFunction.add("trellis_compute", 3, to: handle, compute)
    if code == TRELLIS_SQLITE_OK { code = SQLFunction.add("trellis_apply", 2, to: handle, apply) }
    for (name, final) in aggregates where code == TRELLIS_SQLITE_OK {
      code = SQLFunction.add(name, 1, to: handle, step: collect, final: final)
    }
    return code
  }

  private static let compute: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 3, let sign = values[0], let left = values[1], let right = values[2],
      let sign = ArithmeticOperator(word: trellis_sqlite3_value_int64(sign))
    else { return }
    SQLFunction.answer(
      context, ValueArithmetic.compute(sign, SQLFunction.value(left), SQLFunction.value(right)))
  }

  private static let apply: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 2, let function = values[0], let value = values[1],
      let function = ValueFunction(word: trellis_sqlite3_value_int64(function))
    else { return }
    SQLFunction.answer(context, ValueArithmetic.apply(function, SQLFunction.value(value)))
  }

  // MARK: Aggregates

  /// The values collected so far.
  private final class Collected {
    var values: [StoredValue] = []
  }

  /// The place of a group's pointer in SQLite's memory. The pointer is null at first.
  private static func place(_ context: OpaquePointer) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
    trellis_sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeMutableRawPointer?>.size))?
      .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }

  private static let collect: SQLFunction.Body = { context, count, values in
    guard let context, let values, count == 1, let value = values[0] else { return }
    guard let place = ValueFunctions.place(context) else { return trellis_sqlite3_result_error_nomem(context) }
    // Sound because only this function writes the pointer, and SQLite calls the final function exactly once, even after
    // a failure.
    let start = place.pointee ?? Unmanaged.passRetained(Collected()).toOpaque()
    place.pointee = start
    let collected = Unmanaged<Collected>.fromOpaque(start).takeUnretainedValue()
    collected.values.append(SQLFunction.value(value))
  }

  private static func finish(_ context: OpaquePointer?, _ function: AggregateFunction, _ kind: ValueKind) {
    guard let context else { return }
    let place = place(context)
    let collected = place?.pointee.map { Unmanaged<Collected>.fromOpaque($0).takeRetainedValue() }
    place?.pointee = nil
    SQLFunction.answer(context, ValueArithmetic.aggregate(function, collected?.values ?? [], kind: kind))
  }
}
