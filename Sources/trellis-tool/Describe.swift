import TrellisModel
enum Describe { static func run(_ a: [String], asJSON: Bool) throws(ToolFailure) -> ExitStatus { .success } }
