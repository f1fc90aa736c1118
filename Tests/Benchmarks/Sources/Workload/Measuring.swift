import CMeasure
import Dispatch

/// Runs a body where profilers look for it, and tells how long it took.
func measured<Problem: Error>(_ body: () throws(Problem) -> Int) throws(Problem) -> (seconds: Double, sum: Int) {
  var result: Result<Int, Problem>?
  let start = DispatchTime.now().uptimeNanoseconds
  belowMeasured { result = Result(catching: body) }
  let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
  return (seconds, try result!.get())
}

/// Calls a body by way of the C function that profilers know by name.
private func belowMeasured(_ body: () -> Void) {
  withoutActuallyEscaping(body) { body in
    withUnsafePointer(to: body) { pointer in
      bench_measured(
        { $0!.assumingMemoryBound(to: (() -> Void).self).pointee() }, UnsafeMutableRawPointer(mutating: pointer))
    }
  }
}
