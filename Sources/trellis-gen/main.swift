guard let command = Command(Array(CommandLine.arguments.dropFirst())) else {
  Platform.complain(Command.usage)
  Platform.leave(2)
}
do {
  try Tool.run(command)
} catch {
  Platform.leave(1)
}
