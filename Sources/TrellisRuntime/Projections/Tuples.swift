import TrellisStorage

/// Several properties of an object, to be read into a tuple.
public struct ValueTuple<Values> {
  let paths: [ProjectedPath]
  let read: (ProjectedRow) -> Values
}

/// Takes a tuple of two to six properties, such as `($0.name, $0.images.count)`, and nothing else.
///
/// A closure for a parameter pack could return anything, which the compiler would take for a tuple of nothing; and a pack beside
/// two elements of their own is more than the compiler of Swift 6.3 can lower.
@resultBuilder public enum ValueTupleBuilder {
  public static func buildExpression<A: ValueToken, B: ValueToken>(
    _ tokens: (A, B)
  ) -> ValueTuple<(A.Value, B.Value)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection]) { row in
      (.read(row, 0), .read(row, 1))
    }
  }

  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken>(
    _ tokens: (A, B, C)
  ) -> ValueTuple<(A.Value, B.Value, C.Value)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection, tokens.2._projection]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2))
    }
  }

  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken>(
    _ tokens: (A, B, C, D)
  ) -> ValueTuple<(A.Value, B.Value, C.Value, D.Value)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2), .read(row, 3))
    }
  }

  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken, E: ValueToken>(
    _ tokens: (A, B, C, D, E)
  ) -> ValueTuple<(A.Value, B.Value, C.Value, D.Value, E.Value)> {
    ValueTuple(paths: [
      tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection, tokens.4._projection,
    ]) { row in
      (.read(row, 0), .read(row, 1), .read(row, 2), .read(row, 3), .read(row, 4))
    }
  }

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

  public static func buildBlock<Values>(_ tuple: ValueTuple<Values>) -> ValueTuple<Values> { tuple }
}

/// Several aggregates, to be worked out into a tuple.
public struct AggregateTuple<Results> {
  let steps: [AggregateStep]
  let finish: ([AggregateState]) throws -> Results
}

/// Takes a tuple of two to six aggregates, such as `($0.count, $0.amount.sum)`, and nothing else.
@resultBuilder public enum AggregateTupleBuilder {
  public static func buildExpression<A, B>(
    _ all: (Aggregate<A>, Aggregate<B>)
  ) -> AggregateTuple<(A, B)> {
    AggregateTuple(steps: [all.0.step, all.1.step]) { states in
      (try all.0.finish(states[0]), try all.1.finish(states[1]))
    }
  }

  public static func buildExpression<A, B, C>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>)
  ) -> AggregateTuple<(A, B, C)> {
    AggregateTuple(steps: [all.0.step, all.1.step, all.2.step]) { states in
      (try all.0.finish(states[0]), try all.1.finish(states[1]), try all.2.finish(states[2]))
    }
  }

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

  public static func buildBlock<Results>(_ tuple: AggregateTuple<Results>) -> AggregateTuple<Results> { tuple }
}
