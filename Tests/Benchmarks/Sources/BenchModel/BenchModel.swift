// The model of the benchmark.
