// The oracle decides scheduling cases with kube-scheduler's own code.
//
// It reads cases from standard input and writes a line of results for each pod to standard output, in the formats of
// docs/conformance.md. One process answers any number of cases; it keeps nothing of a cluster once the next one begins.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

// gates are set before anything else of Kubernetes runs. Batching reuses decisions between pods, which a single
// decision must not depend on; preemption in the background would outlive the case that asked for it.
const gates = "OpportunisticBatching=false,SchedulerAsyncPreemption=false"

// garbage lets memory grow to five times what is in use: worlds are small, and many.
const garbage = 400

// longestLine bounds the memory that one cluster can take.
const longestLine = 256 << 20

func main() {
	if err := utilfeature.DefaultMutableFeatureGate.Set(gates); err != nil {
		fail(err)
	}
	silence()
	debug.SetGCPercent(garbage)
	if err := answer(os.Stdin, os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(1)
}

// silence turns logs off: what the code under test has to say is in the results.
func silence() {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	utilruntime.ErrorHandlers = nil
}

// answer writes a line for each pod and flushes it, so that a caller may wait for it before asking the next.
func answer(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), longestLine)
	writer := bufio.NewWriter(out)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	var world *world
	defer func() { world.end() }()
	for number := 1; lines.Scan(); number++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		next, result, err := step(world, lines.Bytes())
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		world = next
		if result == nil {
			continue
		}
		if err := encoder.Encode(result); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// step takes one line: a cluster replaces the world, a pod is judged in it, or plugins give hints about a change.
func step(current *world, text []byte) (*world, any, error) {
	line, err := parse(text)
	if err != nil {
		return current, nil, err
	}
	if line.Cluster != nil {
		current.end()
		next, err := newWorld(line)
		return next, nil, err
	}
	if current == nil {
		return nil, nil, errors.New("a pod before any cluster")
	}
	var result any
	if line.Change != nil {
		result, err = current.hint(line)
	} else {
		result, err = current.decide(line)
	}
	if err != nil {
		return current, nil, fmt.Errorf("case %q: %w", line.ID, err)
	}
	return current, result, nil
}
