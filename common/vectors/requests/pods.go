// How pods are written down, and those made by chance.

package main

import (
	"fmt"
	"math/rand/v2"
)

type object = map[string]any

type named struct {
	name string
	pod  object
}

// list makes a resource list of names and quantities in turn.
func list(pairs ...string) object {
	made := object{}
	for i := 0; i < len(pairs); i += 2 {
		made[pairs[i]] = pairs[i+1]
	}
	return made
}

func container(name string, pairs ...string) object {
	made := object{"name": name}
	if len(pairs) > 0 {
		made["resources"] = object{"requests": list(pairs...)}
	}
	return made
}

func sidecar(name string, pairs ...string) object {
	made := container(name, pairs...)
	made["restartPolicy"] = "Always"
	return made
}

func status(name string, allocated, actual object) object {
	made := object{"name": name}
	if allocated != nil {
		made["allocatedResources"] = allocated
	}
	if actual != nil {
		made["resources"] = object{"requests": actual}
	}
	return made
}

func pod(containers ...object) object {
	return object{"spec": object{"containers": containers}, "status": object{}}
}

// with sets a field of the spec or of the status.
func with(pod object, part, field string, value any) object {
	pod[part].(object)[field] = value
	return pod
}

func pending(reason string) []object {
	return []object{{"type": "Ready", "status": "True"}, {"type": "PodResizePending", "status": "True", "reason": reason}}
}

// random mixes all rules. The seed is fixed, so that every run prints the same.
func random() []named {
	rng := rand.New(rand.NewPCG(20261116, 38))
	var all []named
	for i := range 400 {
		all = append(all, named{fmt.Sprintf("random %d", i), randomPod(rng)})
	}
	return all
}

var texts = map[string][]string{
	"cpu":               {"0", "1", "250m", "0.1", "100m", "1.5", "2500u", "1n", "0.5m", "3", "1e1", "64", "7m"},
	"memory":            {"0", "1", "128Mi", "1Gi", "1G", "1.5Gi", "500k", "100m", "1e9", "200Mi", "209715201", "3Ti"},
	"ephemeral-storage": {"0", "1Gi", "10G", "1.1Ki", "5"},
	"hugepages-2Mi":     {"0", "2Mi", "64Mi", "1Gi"},
	"nvidia.com/gpu":    {"0", "1", "2", "8"},
	"example.com/a":     {"1", "1.5", "3k"},
	"kubernetes.io/b":   {"1", "4"},
	"unknown":           {"1"},
	"pods":              {"3"},
}

// A fixed order, because that of a map differs from run to run.
var names = []string{
	"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "example.com/a", "kubernetes.io/b", "unknown", "pods",
}

func randomList(rng *rand.Rand) object {
	made := object{}
	for i, name := range names {
		likely := 10 - 3*i
		if rng.IntN(14) < max(likely, 1) {
			made[name] = texts[name][rng.IntN(len(texts[name]))]
		}
	}
	return made
}

// maybe gives a list, nothing, null or an empty one.
func maybe(rng *rand.Rand, set func(any)) {
	switch rng.IntN(8) {
	case 0:
	case 1:
		set(nil)
	case 2:
		set(object{})
	default:
		set(randomList(rng))
	}
}

func randomPod(rng *rand.Rand) object {
	made := pod()
	var containers, inits, statuses, initStatuses []object
	for i := range 1 + rng.IntN(4) {
		one := object{"name": fmt.Sprintf("c%d", i)}
		maybe(rng, func(value any) { one["resources"] = object{"requests": value} })
		containers = append(containers, one)
		if rng.IntN(3) > 0 {
			statuses = append(statuses, randomStatus(rng, one["name"]))
		}
	}
	for i := range rng.IntN(4) {
		one := object{"name": fmt.Sprintf("i%d", i)}
		maybe(rng, func(value any) { one["resources"] = object{"requests": value} })
		if rng.IntN(2) == 0 {
			one["restartPolicy"] = "Always"
		}
		inits = append(inits, one)
		if rng.IntN(3) > 0 {
			initStatuses = append(initStatuses, randomStatus(rng, one["name"]))
		}
	}
	with(made, "spec", "containers", containers)
	with(made, "spec", "initContainers", inits)
	if rng.IntN(3) == 0 {
		with(made, "spec", "overhead", randomList(rng))
	}
	if rng.IntN(2) == 0 {
		with(made, "status", "containerStatuses", statuses)
		with(made, "status", "initContainerStatuses", initStatuses)
	}
	randomPodLevel(rng, made)
	return made
}

func randomStatus(rng *rand.Rand, name any) object {
	made := object{"name": name}
	maybe(rng, func(value any) { made["allocatedResources"] = value })
	if rng.IntN(5) > 0 {
		actual := object{}
		maybe(rng, func(value any) { actual["requests"] = value })
		made["resources"] = actual
	}
	return made
}

func randomPodLevel(rng *rand.Rand, made object) {
	if rng.IntN(3) == 0 {
		maybe(rng, func(value any) { with(made, "spec", "resources", object{"requests": asStored(value)}) })
	}
	if rng.IntN(3) == 0 {
		maybe(rng, func(value any) { with(made, "status", "allocatedResources", value) })
	}
	if rng.IntN(3) == 0 {
		actual := object{}
		maybe(rng, func(value any) { actual["requests"] = value })
		with(made, "status", "resources", actual)
	}
	if rng.IntN(4) == 0 {
		with(made, "status", "conditions", pending([]string{"Infeasible", "Deferred"}[rng.IntN(2)]))
	}
}

// asStored spells a fraction of a binary unit as the API server stores it. Kubernetes keeps the other spelling
// behind a pointer and, on pod level, adds the overhead to the pod itself: every question changes the answer.
func asStored(value any) any {
	if list, ok := value.(object); ok && list["memory"] == "1.5Gi" {
		list["memory"] = "1536Mi"
	}
	return value
}
