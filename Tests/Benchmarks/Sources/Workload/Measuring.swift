import CMeasure

/// Runs a body and tells how many seconds it took.
func measured<Problem: Error>(_ body: () throws(Problem) -> Int) throws(Problem) -> (seconds: Double, sum: Int) {
  var result: Result<Int, Problem>?
  let nanoseconds = call(bench_measured) { result = Result(catching: body) }
  return (Double(nanoseconds) / 1e9, try result!.get())
}

/// Runs a body beside the clock, if it runs at all.
func unmeasured(_ body: () -> Void) { call(bench_unmeasured, body) }

/// Hands a closure to a function of C.
private func call<Result>(
  _ function: (@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?) -> Result,
  _ body: () -> Void
) -> Result {
  withoutActuallyEscaping(body) { body in
    withUnsafePointer(to: body) { pointer in
      function(
        { $0!.assumingMemoryBound(to: (() -> Void).self).pointee() }, UnsafeMutableRawPointer(mutating: pointer))
    }
  }
}
