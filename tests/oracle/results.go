package main

import (
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// result is what is printed for a pod. See docs/conformance.md.
type result struct {
	ID         string       `json:"id"`
	PreEnqueue []verdict    `json:"preEnqueue,omitempty"`
	PreFilter  *verdict     `json:"preFilter,omitempty"`
	Excluded   []string     `json:"excludedBy,omitempty"`
	Nodes      []nodeResult `json:"nodes"`
	Best       []string     `json:"best"`
	Host       string       `json:"host,omitempty"`
	Message    string       `json:"message,omitempty"`
	Preemption *preemption  `json:"preemption,omitempty"`
	Error      string       `json:"error,omitempty"`
}

// nodeResult is about one node. Without a rejection the pod fits it.
type nodeResult struct {
	Node      string           `json:"node"`
	Rejection *verdict         `json:"rejection,omitempty"`
	Filters   []verdict        `json:"filters,omitempty"`
	Scores    map[string]score `json:"scores,omitempty"`
	Total     *int64           `json:"total,omitempty"`
}

// verdict is a refusal. Reasons are sorted, since upstream leaves the order of some to chance.
type verdict struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

// score is one plugin's opinion of one node.
type score struct {
	Raw   int64 `json:"raw"`
	Final int64 `json:"final"`
}

// preemption is what PostFilter came to.
type preemption struct {
	Nominated  string               `json:"nominated,omitempty"`
	Candidates map[string]candidate `json:"candidates,omitempty"`
}

// candidate is a node that would have room without its victims, most important victim first. What comes after them is what
// candidates are ranked by: no earliest start means that no victim of the highest priority has started.
type candidate struct {
	Victims         []string     `json:"victims"`
	Violations      int64        `json:"violations"`
	HighestPriority int64        `json:"highestPriority"`
	PrioritySum     int64        `json:"prioritySum"`
	EarliestStart   *metav1.Time `json:"earliestStart,omitempty"`
}

// refused turns a status into a verdict; nil for success.
func refused(status *fwk.Status) *verdict {
	if status.IsSuccess() {
		return nil
	}
	return &verdict{Plugin: status.Plugin(), Code: code(status.Code()), Reasons: sorted(status.Reasons())}
}

func code(code fwk.Code) string {
	switch code {
	case fwk.Unschedulable:
		return "U"
	case fwk.UnschedulableAndUnresolvable:
		return "UU"
	default:
		return code.String()
	}
}

func sorted(reasons []string) []string {
	sorted := append([]string{}, reasons...)
	sort.Strings(sorted)
	return sorted
}
