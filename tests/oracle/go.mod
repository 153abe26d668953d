// This file only marks the root of a module. What the oracle is built against is in
// ../control-plane/kubernetes/go.mod, given with -modfile; tests/src/conformance/oracle.rs builds it.
module kubectl-reserve/oracle

go 1.26.0
