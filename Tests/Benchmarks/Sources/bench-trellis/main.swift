// The same work done with Trellis, as its documentation recommends. BENCH_MEMORY_STORE=1 takes the memory store.
import Workload

try TrellisBench(Settings()).run()
