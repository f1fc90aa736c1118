import Foundation

/// The processor time that the process has used, in seconds.
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The microseconds of processor time that a body takes for each of its items.
func microseconds(per items: Int, _ body: () throws -> Void) rethrows -> Double {
  let start = processorSeconds()
  try body()
  return (processorSeconds() - start) * 1e6 / Double(max(1, items))
}
