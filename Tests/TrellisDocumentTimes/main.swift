// How long a JSON document of many objects takes to be saved and loaded: swift run -c release TrellisDocumentTimes 100000

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
try DocumentTimes(count: count).run()
