import CMeasure

/// What a body took and returned.
struct Measurement {
  let seconds: Double
  /// Of all processors that the process has used.
  let processorSeconds: Double
  let result: Int
}

func measured(_ body: Work) throws -> Measurement {
  var result: Result<Int, any Error>?
  let time = call(bench_measured) { result = Result(catching: body) }
  return Measurement(
    seconds: Double(time.wall) / 1e9, processorSeconds: Double(time.processor) / 1e9, result: try result!.get())
}

/// Runs a body beside the clock, if it runs at all.
public func unmeasured(_ body: () -> Void) { call(bench_unmeasured, body) }

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

/// Bytes that malloc has handed out and not got back.
public func bytesInUse() -> Int { bench_bytes_in_use() }

/// The most memory that the process ever had resident, in millions of bytes.
public func peakMegabytes() -> Int { bench_peak_bytes() / 1_000_000 }
