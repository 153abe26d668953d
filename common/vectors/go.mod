// This file only marks the root of a module. What the programs here are built against is in
// tests/control-plane/kubernetes/go.mod, given with -modfile: see README.md.
module kubectl-reserve/vectors

go 1.26.0
