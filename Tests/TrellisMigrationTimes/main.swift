// How long migrations of many rows take, beside the same work in hand-written SQL:
// swift run -c release TrellisMigrationTimes 1000000

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
try MigrationTimes(count: count).run()
