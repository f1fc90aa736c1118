// The same work done with GRDB, as its documentation recommends: Codable records.
import Workload

let settings = Settings()
try Runner(GRDBBench(settings), settings).run()
