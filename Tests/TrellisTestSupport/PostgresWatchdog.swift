import Foundation
import TrellisModel

/// A shell that runs a server for this process, and ends it and removes its folder as soon as this process is gone,
/// whether it ended, crashed or was killed: then the shell's input ends.
///
/// The shell is also who makes the cluster and starts the server, so nothing of that goes on when it cleans up.
final class PostgresWatchdog: Sendable {
  private struct Shell {
    let process: Process
    let socket: Int32
  }

  private let shell: Locked<Shell>

  /// - Parameters:
  ///   - folder: the folder of the cluster.
  ///   - programs: PostgreSQL's programs.
  ///   - rights: the beginning of a command that gives up rights that the server must not have.
  init(folder: String, programs: PostgresPrograms, rights: [String]) throws {
    let (own, others) = try LocalSocket.pair()
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", Self.script, "watchdog", folder, programs.folder.path] + rights
    process.environment = PostgresCluster.environment
    let end = FileHandle(fileDescriptor: others, closeOnDealloc: true)
    process.standardInput = end
    process.standardOutput = end
    do { try Self.withAllSignals { try process.run() } } catch {
      close(own)
      throw error
    }
    try end.close()
    shell = Locked(Shell(process: process, socket: own))
  }

  deinit {
    shell.withLock { shell in
      close(shell.socket)
      shell.process.waitUntilExit()
    }
  }

  /// Runs a closure while the thread takes all signals. A program inherits what the thread blocks that starts it, and with
  /// the signals that threads of queues block, the shell would wait for its server forever.
  private static func withAllSignals(_ body: () throws -> Void) rethrows {
    var (none, former) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    try body()
  }

  /// Whether the shell did what it was told.
  func tell(_ command: String) -> Bool {
    shell.withLock { shell in
      LocalSocket.write((command + "\n").utf8, to: shell.socket)
      // An answer is a number and a newline, so it comes in one piece.
      return LocalSocket.read(shell.socket) == Array("0\n".utf8)
    }
  }

  /// The server is a child of the shell, which can wait until it is gone, and with it all processes of the server.
  private static let script = """
    trap '' HUP INT TERM PIPE
    folder=$1 programs=$2
    shift 2
    cd "$folder" || exit
    while read -r command signal; do
      case $command in
      initialize)
        "$@" "$programs/initdb" -D data -U trellis --pwfile=password --auth=scram-sha-256 --encoding=UTF8 --locale=C \\
          --no-sync < /dev/null > postgres.log 2>&1 ;;
      copy)
        "$@" "$programs/pg_basebackup" -D data -d "$(cat source)" -R -X stream -c fast --no-sync \\
          < /dev/null > postgres.log 2>&1 ;;
      pool)
        PATH="$PATH:/usr/sbin" "$@" pgbouncer pool.ini < /dev/null > pool.log 2>&1 &
        server=$! ending=KILL ;;
      start)
        "$@" "$programs/postgres" -D data < /dev/null >> postgres.log 2>&1 &
        server=$!
        until [ "$(sed -n '1p;8p' data/postmaster.pid 2> /dev/null | tr -d ' \\n')" = "${server}ready" ]; do
          kill -0 "$server" 2> /dev/null || break
          sleep 0.02
        done
        kill -0 "$server" 2> /dev/null ;;
      stop)
        kill -s "$signal" "$server" 2> /dev/null && { wait "$server"; server=; } ;;
      esac
      echo $? 2> /dev/null
    done
    if [ -n "$server" ] && kill -s "${ending:-QUIT}" "$server" 2> /dev/null; then wait "$server"; fi
    cd / && rm -rf "$folder"
    """
}
