import TrellisStorage

/// Several properties of an object that are read into a tuple.
public struct ValueTuple<Values> {
  let paths: [ProjectedPath]
  let read: (ProjectedRow) -> Values
}

/// Builds a tuple of two to six properties, such as `($0.name, $0.images.count)`, and accepts nothing else.
///
/// A closure that takes a parameter pack would accept any result, which the compiler would treat as an empty tuple. A
/// pack next to two individual elements is more than the compiler of Swift 6.3 can lower.
@resultBuilder public enum ValueTupleBuilder {
  /// Builds a tuple of two properties.
  public static func buildExpression<A: ValueToken, B: ValueToken>(
    _ tokens: (A, B)
  ) -> ValueTuple<(A.Value, B.Value)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection]) { row in
      (.read(row, 0), .read(row, 1))
    }
  }

  /// Builds a tuple of three properties.
  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken>(
    _ tokens: (A, B, C)
  ) -> ValueTuple<(A.Value, B.Value, C.Value)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection, tokens.2._projection]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2))
    }
  }

  /// Builds a tuple of four properties.
  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken>(
    _ tokens: (A, B, C, D)
  ) -> ValueTuple<(A.Value, B.Value, C.Value, D.Value)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2), .read(row, 3))
    }
  }

  /// Builds a tuple of five properties.
  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken, E: ValueToken>(
    _ tokens: (A, B, C, D, E)
  ) -> ValueTuple<(A.Value, B.Value, C.Value, D.Value, E.Value)> {
    ValueTuple(paths: [
      tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection, tokens.4._projection,
    ]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2), .read(row, 3), .read(row, 4))
    }
  }

  /// Builds a tuple of six properties.
  public static func buildExpression<
    A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken, E: ValueToken, F: ValueToken
  >(
    _ tokens: (A, B, C, D, E, F)
  ) -> ValueTuple<(A.Value, B.Value, C.Value, D.Value, E.Value, F.Value)> {
    ValueTuple(paths: [
      tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection, tokens.4._projection,
      tokens.5._projection,
    ]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2), .read(row, 3), .read(row, 4), .read(row, 5))
    }
  }

  /// Accepts a single statement.
  public static func buildBlock<Values>(_ tuple: ValueTuple<Values>) -> ValueTuple<Values> { tuple }
}

/// Several aggregates that are computed into a tuple.
public struct AggregateTuple<Results> {
  let steps: [AggregateStep]
  let finish: ([AggregateState]) throws -> Results
}

/// Builds a tuple of two to six aggregates, such as `($0.count, $0.amount.sum)`, and accepts nothing else.
@resultBuilder public enum AggregateTupleBuilder {
  /// Builds a tuple of two aggregates.
  public static func buildExpression<A, B>(
    _ all: (Aggregate<A>, Aggregate<B>)
  ) -> AggregateTuple<(A, B)> {
    AggregateTuple(steps: [all.0.step, all.1.step]) { states in
      (try all.0.finish(states[0]), try all.1.finish(states[1]))
    }
  }

  /// Builds a tuple of three aggregates.
  public static func buildExpression<A, B, C>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>)
  ) -> AggregateTuple<(A, B, C)> {
    AggregateTuple(steps: [all.0.step, all.1.step, all.2.step]) { states in
      (try all.0.finish(states[0]), try all.1.finish(states[1]), try all.2.finish(states[2]))
    }
  }

  /// Builds a tuple of four aggregates.
  public static func buildExpression<A, B, C, D>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>, Aggregate<D>)
  ) -> AggregateTuple<(A, B, C, D)> {
    AggregateTuple(steps: [all.0.step, all.1.step, all.2.step, all.3.step]) { states in
      (
        try all.0.finish(states[0]), try all.1.finish(states[1]), try all.2.finish(states[2]),
        try all.3.finish(states[3])
      )
    }
  }

  /// Builds a tuple of five aggregates.
  public static func buildExpression<A, B, C, D, E>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>, Aggregate<D>, Aggregate<E>)
  ) -> AggregateTuple<(A, B, C, D, E)> {
    AggregateTuple(steps: [all.0.step, all.1.step, all.2.step, all.3.step, all.4.step]) { states in
      (
        try all.0.finish(states[0]), try all.1.finish(states[1]), try all.2.finish(states[2]),
        try all.3.finish(states[3]), try all.4.finish(states[4])
      )
    }
  }

  /// Builds a tuple of six aggregates.
  public static func buildExpression<A, B, C, D, E, F>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>, Aggregate<D>, Aggregate<E>, Aggregate<F>)
  ) -> AggregateTuple<(A, B, C, D, E, F)> {
    AggregateTuple(steps: [all.0.step, all.1.step, all.2.step, all.3.step, all.4.step, all.5.step]) { states in
      (
        try all.0.finish(states[0]), try all.1.finish(states[1]), try all.2.finish(states[2]),
        try all.3.finish(states[3]), try all.4.finish(states[4]), try all.5.finish(states[5])
      )
    }
  }

  /// Accepts a single statement.
  public static func buildBlock<Results>(_ tuple: AggregateTuple<Results>) -> AggregateTuple<Results> { tuple }
}
