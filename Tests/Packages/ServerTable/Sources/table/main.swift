import Dispatch
import Foundation
import Trellis
import TrellisPostgres

/// The largest amount of memory that the process has had, in MB.
func peakOfMemory() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
}

/// Prints the least time of some runs in milliseconds, how much the peak of memory has grown, and the result.
func time(_ name: String, runs: Int = 3, _ work: (ManagedObjectContext) throws -> Int) throws {
  let before = peakOfMemory()
  var least = Duration.seconds(1_000_000)
  var result = 0
  for _ in 0..<runs {
    let context = container.newContext()
    let start = ContinuousClock.now
    result = try work(context)
    least = min(least, ContinuousClock.now - start)
  }
  print(name, String(format: "%.1f", least / .milliseconds(1)), peakOfMemory() - before, result, separator: "\t")
}

func read() throws {
  let plain = try container.newContext().count(Owner.all)
  precondition(plain > 0)
  try time("matching, a rare word") { try $0.fetch(Big.where { $0.note.matching("kumquat") }).count }
  try time("CONTAINS[cd]") {
    try $0.fetch(Big.where { $0.note.contains("KUMQUÁT", [.caseInsensitive, .diacriticInsensitive]) }).count
  }
  try time("==[c]") { try $0.fetch(Big.where("title ==[c] %@", "TITLE 77777")).count }
  try time("sorted by [c], limit 10") {
    try $0.fetch(Big.all.sorted { $0.title.ascending(.caseInsensitive) }.limit(10)).count
  }
  try time("@sum of members > 100") { try $0.fetch(Owner.where("bigs.@sum.amount > 100")).count }
  try time("sum of a double") { Int(try $0.aggregate(Big.all) { $0.amount.sum }) }
  try time("sum of a decimal") {
    let sum = try $0.aggregate(Big.all) { $0.price.sum }
    return Int(truncating: sum as NSDecimalNumber)
  }
  try time("arithmetic in a condition") { try $0.count(Big.where { $0.amount * 2 + 1 > 1_999 }) }
}

func write() throws {
  try time("updateAll of 200,000", runs: 1) {
    try $0.updateAll(Big.where { $0.kind < 20 }) { $0.amount.multiply(by: 2) }
  }
  try time("deleteAll of 200,000", runs: 1) { try $0.deleteAll(Big.where { $0.kind < 20 }) }
}

/// Prints the calls in a second of some workers, each with its own thread and context.
func calls(_ workers: Int, _ calls: Int, _ call: @Sendable @escaping (ManagedObjectContext, Int64) throws -> Void) {
  let start = ContinuousClock.now
  let group = DispatchGroup()
  for worker in 0..<workers {
    group.enter()
    // Dispatch runs as many blocks at once as the machine has cores, and these wait for a server.
    let thread = Thread {
      work(Int64(worker), calls, call)
      group.leave()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }
  group.wait()
  print(Double(workers * (calls + 1)) / ((ContinuousClock.now - start) / .seconds(1)))
}

func work(_ worker: Int64, _ calls: Int, _ call: (ManagedObjectContext, Int64) throws -> Void) {
  do {
    let context = container.newContext()
    // The first call opens a connection.
    try call(context, worker * 50_000 + 1)
    for number in 0..<calls {
      try call(context, worker * 50_000 + 2 + Int64(number) * 7 % 40_000)
      // A request of a service has a context of its own.
      if number % 64 == 63 { context.reset() }
    }
  } catch {
    print(error)
    exit(1)
  }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
  print("table URL create|read|write | table URL first|change|insert WORKERS CALLS")
  exit(2)
}
let numbers = arguments.dropFirst(3).compactMap { Int($0) }
let start = ContinuousClock.now
let container = try PersistentContainer(
  model: .bigs, store: .postgres(arguments[1], schema: "bigs", connections: 16, timeout: 600))
switch (arguments[2], numbers.first, numbers.last) {
case ("create", _, _): print("opening", (ContinuousClock.now - start) / .milliseconds(1), separator: "\t")
case ("read", _, _): try read()
case ("write", _, _): try write()
case ("first", let workers?, let count?):
  calls(workers, count) { context, number in
    guard try context.first(Big.where { $0.number == number }) != nil else { fatalError("no row \(number)") }
  }
case ("change", let workers?, let count?):
  calls(workers, count) { context, number in
    guard let big = try context.first(Big.where { $0.number == number }) else { fatalError("no row \(number)") }
    big.amount += 1
    try context.save()
  }
case ("insert", let workers?, let count?):
  let first = Int64(10_000_000) + Int64(Date().timeIntervalSince1970 * 1_000) % 1_000_000_000 * 1_000
  calls(workers, count) { context, number in
    _ = Big(in: context, number: first + number, title: "new", note: "a new row", amount: 1, price: 2, kind: 99)
    try context.save()
  }
default: fatalError("unknown: \(arguments)")
}
container.close()
