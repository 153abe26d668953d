// The pods chosen by hand.

package main

import "strings"

// chosen has one pod for every rule, and for every pair of rules that meet.
func chosen() []named {
	var all []named
	for _, part := range [][]named{containers(), inits(), quantities(), podLevel(), resizes(), podResizes()} {
		all = append(all, part...)
	}
	return all
}

func containers() []named {
	twoLists := pod(container("a", "cpu", "1", "memory", "1Gi"), container("b", "memory", "1Gi", "nvidia.com/gpu", "2"))
	return []named{
		{"no containers", pod()},
		{"no requests", pod(container("a"))},
		{"no requests, two containers", pod(container("a"), container("b"))},
		{"one container", pod(container("a", "cpu", "250m", "memory", "64Mi"))},
		{"two containers add", twoLists},
		{"explicit zeros get no default", pod(container("a", "cpu", "0", "memory", "0"))},
		{"cpu only", pod(container("a", "cpu", "1"))},
		{"memory only", pod(container("a", "memory", "1Gi"))},
		{"null requests", pod(object{"name": "a", "resources": object{"requests": nil}})},
		{"empty requests", pod(object{"name": "a", "resources": object{"requests": object{}}})},
		{"limits do not count", pod(object{"name": "a", "resources": object{"limits": list("cpu", "4")}})},
		{"every kind of name", pod(container("a", "cpu", "1", "memory", "1", "ephemeral-storage", "1", "pods", "5", "hugepages-1Gi", "1Gi",
			"example.com/x", "1", "kubernetes.io/x", "1", "a.kubernetes.io/x", "1", "attachable-volumes-x", "1", "storage", "1",
			"requests.example.com/x", "1", "requests.cpu", "1", "foo", "1", "Example.com/x", "1", "example.com/x/y", "1", "/x", "1",
			"example.com/", "1", "ex_ample.com/x", "1", "e.c/X_y.z-1", "1", "e.c/-x", "1", "e.c/x-", "1", "-e.c/x", "1", "e..c/x", "1"))},
		{"names of all lengths", pod(container("a", "e.c/"+strings.Repeat("x", 63), "1", "e.c/"+strings.Repeat("x", 64), "1",
			strings.Repeat("d", 244)+"/x", "1", strings.Repeat("d", 245)+"/x", "1"))},
		{"overhead", with(pod(container("a", "cpu", "1")), "spec", "overhead", list("cpu", "250m", "memory", "120Mi"))},
		{"overhead without requests", with(pod(container("a")), "spec", "overhead", list("cpu", "250m", "memory", "120Mi"))},
		{"overhead of another resource", with(pod(container("a", "cpu", "1")), "spec", "overhead", list("example.com/x", "3"))},
		{"negative", pod(container("a", "cpu", "-1", "memory", "-5", "example.com/x", "-2"))},
	}
}

func inits() []named {
	base := func() object {
		return pod(container("a", "cpu", "2", "memory", "1Gi"), container("b", "cpu", "1", "memory", "1Gi"))
	}
	init := func(pod object, inits ...object) object { return with(pod, "spec", "initContainers", inits) }
	return []named{
		{"init smaller", init(base(), container("i", "cpu", "1", "memory", "1Mi"))},
		{"init larger in one", init(base(), container("i", "cpu", "2", "memory", "3Gi"))},
		{"inits do not add", init(base(), container("i", "cpu", "2"), container("j", "cpu", "2"))},
		{"init without requests", init(base(), container("i"))},
		{"init alone asks", init(pod(container("a")), container("i", "cpu", "1", "example.com/x", "2"))},
		{"many inits without requests", init(pod(container("a")), container("i"), container("j"), sidecar("k"))},
		{"sidecar adds", init(base(), sidecar("s", "cpu", "1", "memory", "1Gi"))},
		{"sidecar before init", init(base(), sidecar("s", "cpu", "1"), container("i", "cpu", "3"))},
		{"sidecar after init", init(base(), container("i", "cpu", "4"), sidecar("s", "cpu", "1"))},
		{"sidecars add up before init", init(base(), sidecar("s", "cpu", "1"), sidecar("t", "cpu", "2"), container("i", "cpu", "2500m"))},
		{"sidecar between inits", init(base(), container("i", "cpu", "3500m"), sidecar("s", "cpu", "1"), container("j", "cpu", "3500m"))},
		{"sidecar without requests", init(base(), sidecar("s"), container("i", "cpu", "4"))},
		{"sidecar of another resource", init(base(), sidecar("s", "example.com/x", "1"), container("i", "example.com/x", "1"))},
		{"init and overhead", with(init(base(), container("i", "cpu", "9")), "spec", "overhead", list("cpu", "1"))},
		{"negative under a sidecar", init(pod(container("a", "cpu", "-5")), sidecar("s", "cpu", "1"))},
		{"restartPolicy Never is no sidecar", init(base(), never(container("i", "cpu", "1")))},
	}
}

func never(container object) object {
	container["restartPolicy"] = "Never"
	return container
}

func quantities() []named {
	return []named{
		{"halves of a milli add before rounding", pod(container("a", "cpu", "0.5m"), container("b", "cpu", "0.5m"))},
		{"nanos round up", pod(container("a", "cpu", "1n", "memory", "1n", "example.com/x", "1n"))},
		{"parts of a byte add before rounding", pod(container("a", "memory", "0.5"), container("b", "memory", "0.5"))},
		{"mixed notations", pod(container("a", "memory", "1Gi"), container("b", "memory", "1G"), container("c", "memory", "1e9"))},
		{"exponents", pod(container("a", "cpu", "1e-3", "memory", "129e6"))},
		{"signs and points", pod(container("a", "cpu", "+1.", "memory", ".5Gi"))},
		{"numbers instead of text", pod(object{"name": "a", "resources": object{"requests": object{"cpu": 2, "memory": 1024}}})},
		{"the largest", pod(container("a", "cpu", "9223372036854775807m", "memory", "9223372036854775807"))},
		{"binary fractions", pod(container("a", "memory", "1.1Ki"), container("b", "memory", "1.1Ki"))},
	}
}

func podLevel() []named {
	base := func() object {
		return pod(container("a", "cpu", "1", "memory", "1Gi", "ephemeral-storage", "1Gi"), container("b"))
	}
	level := func(pod object, pairs ...string) object {
		return with(pod, "spec", "resources", object{"requests": list(pairs...)})
	}
	init := func(pod object) object {
		return with(pod, "spec", "initContainers", []object{container("i", "cpu", "8")})
	}
	return []named{
		{"pod level replaces", level(base(), "cpu", "4", "memory", "4Gi")},
		{"pod level below the containers", level(base(), "cpu", "1m")},
		{"pod level cpu only", level(base(), "cpu", "4")},
		{"pod level memory only", level(base(), "memory", "4Gi")},
		{"pod level huge pages only", level(base(), "hugepages-2Mi", "4Mi")},
		{"pod level of what cannot be", level(base(), "ephemeral-storage", "9Gi", "example.com/x", "1")},
		{"pod level mixed with what cannot be", level(base(), "cpu", "4", "ephemeral-storage", "9Gi")},
		{"pod level zero", level(base(), "cpu", "0")},
		{"pod level empty", level(base())},
		{"pod level null", with(base(), "spec", "resources", object{"requests": nil})},
		{"pod level limits only", with(base(), "spec", "resources", object{"limits": list("cpu", "4")})},
		{"pod level without container requests", level(pod(container("a"), container("b")), "cpu", "4")},
		{"pod level memory, no container requests", level(pod(container("a"), container("b")), "memory", "4Gi")},
		{"pod level huge pages, no container requests", level(pod(container("a"), container("b")), "hugepages-2Mi", "4Mi")},
		{"pod level and overhead", with(level(base(), "cpu", "4"), "spec", "overhead", list("cpu", "250m", "memory", "1Mi"))},
		{"pod level and overhead give cpu", with(level(pod(container("a")), "memory", "1Gi"), "spec", "overhead", list("cpu", "250m"))},
		{"pod level and init", level(init(base()), "cpu", "4")},
		{"pod level of memory and init", level(init(base()), "memory", "4Gi")},
	}
}

func resizes() []named {
	base := func() object { return pod(container("a", "cpu", "1", "memory", "1Gi"), container("b", "cpu", "1")) }
	said := func(pod object, statuses ...object) object { return with(pod, "status", "containerStatuses", statuses) }
	infeasible := func(pod object) object { return with(pod, "status", "conditions", pending("Infeasible")) }
	side := func(pod object) object {
		return with(pod, "spec", "initContainers", []object{sidecar("s", "cpu", "1"), container("i", "cpu", "3")})
	}
	initSaid := func(pod object, statuses ...object) object {
		return with(pod, "status", "initContainerStatuses", statuses)
	}
	more, less := list("cpu", "3", "memory", "2Gi"), list("cpu", "500m", "memory", "512Mi")
	firstDeferred := []object{{"type": "PodResizePending", "reason": "Deferred"}, {"type": "PodResizePending", "reason": "Infeasible"}}
	return []named{
		{"statuses that say nothing", said(base(), status("a", nil, nil), status("b", nil, nil))},
		{"allocated more", said(base(), status("a", more, nil))},
		{"allocated less", said(base(), status("a", less, nil))},
		{"actual more", said(base(), status("a", less, more))},
		{"actual less", said(base(), status("a", more, less))},
		{"actual without allocated", said(base(), status("a", nil, more))},
		{"actual less without allocated", said(base(), status("a", nil, less), status("b", nil, less))},
		{"allocated empty", said(base(), status("a", object{}, nil))},
		{"actual empty", said(base(), status("a", more, object{}))},
		{"actual null", said(base(), object{"name": "a", "allocatedResources": more, "resources": object{"requests": nil}})},
		{"actual limits only", said(base(), object{"name": "a", "resources": object{"limits": more}})},
		{"sums before the maximum", said(base(), status("a", more, nil), status("b", list("cpu", "1m"), nil))},
		{"one up, one down", said(base(), status("a", list("cpu", "3"), list("cpu", "1")), status("b", list("cpu", "1"), list("cpu", "3")))},
		{"status of a stranger", said(base(), status("x", more, more))},
		{"resource only in status", said(base(), status("a", list("example.com/x", "1"), list("cpu", "1", "example.com/y", "1")))},
		{"infeasible without status", infeasible(base())},
		{"infeasible, allocated less", infeasible(said(base(), status("a", less, nil), status("b", less, nil)))},
		{"infeasible, one status", infeasible(said(base(), status("a", less, less)))},
		{"infeasible, actual only", infeasible(said(base(), status("a", nil, less), status("b", nil, more)))},
		{"infeasible with overhead", with(infeasible(said(base(), status("a", less, less))), "spec", "overhead", list("cpu", "1"))},
		{"deferred", with(said(base(), status("a", less, less)), "status", "conditions", pending("Deferred"))},
		{"the first condition decides", with(said(base(), status("a", less, less)), "status", "conditions", firstDeferred)},
		{"another condition infeasible", with(said(base(), status("a", less, less)), "status", "conditions",
			[]object{{"type": "PodResizeInProgress", "reason": "Infeasible"}})},
		{"sidecar allocated more", initSaid(side(base()), status("s", more, more))},
		{"init allocated more", initSaid(side(base()), status("i", list("cpu", "9"), nil))},
		{"init actual less", initSaid(side(base()), status("i", less, less), status("s", less, less))},
		{"infeasible sidecar", infeasible(initSaid(side(base()), status("s", less, nil)))},
		{"status in the other list", with(side(base()), "status", "containerStatuses", []object{status("s", more, nil)})},
		{"name in both lists", initSaid(said(side(base()), status("s", less, nil)), status("s", more, nil))},
		{"no defaults for what a status mentions", said(pod(container("a")), status("a", list("cpu", "0"), list("memory", "0")))},
		{"defaults in all three views", said(pod(container("a"), container("b", "cpu", "1")), status("a", list("cpu", "50m"), nil))},
	}
}

func podResizes() []named {
	base := func() object {
		return pod(container("a", "cpu", "1", "memory", "1Gi", "ephemeral-storage", "1Gi"), container("b"))
	}
	level := func(pod object) object {
		return with(pod, "spec", "resources", object{"requests": list("cpu", "4", "hugepages-2Mi", "2Mi")})
	}
	allocated := func(pod object, list any) object { return with(pod, "status", "allocatedResources", list) }
	actual := func(pod object, list any) object {
		return with(pod, "status", "resources", object{"requests": list})
	}
	infeasible := func(pod object) object { return with(pod, "status", "conditions", pending("Infeasible")) }
	said := func(pod object) object {
		return with(pod, "status", "containerStatuses", []object{status("a", list("cpu", "7"), list("cpu", "9"))})
	}
	more, less := list("cpu", "6", "memory", "3Gi"), list("cpu", "2", "memory", "2Gi")
	return []named{
		{"pod status, both more", allocated(actual(level(base()), more), more)},
		{"pod status, both less", allocated(actual(level(base()), less), less)},
		{"pod status, allocated more", allocated(actual(level(base()), less), more)},
		{"pod status, actual more", allocated(actual(level(base()), more), less)},
		{"pod status, allocated only", allocated(level(base()), more)},
		{"pod status, actual only", actual(level(base()), more)},
		{"pod status, resources without requests", allocated(with(level(base()), "status", "resources", object{}), more)},
		{"pod status, resources with null requests", allocated(actual(level(base()), nil), more)},
		{"pod status, empty lists", allocated(actual(level(base()), object{}), object{})},
		{"pod status, allocated null", allocated(actual(level(base()), more), nil)},
		{"pod status, no pod level in the spec", allocated(actual(base(), more), more)},
		{"pod status, no pod level, less", allocated(actual(base(), less), less)},
		{"pod status hides container statuses", allocated(actual(said(base()), less), less)},
		{"pod status incomplete, container statuses count", actual(said(base()), less)},
		{"pod status hides container statuses, pod level", allocated(actual(said(level(base())), less), less)},
		{"pod status, infeasible, less", infeasible(allocated(actual(level(base()), less), less))},
		{"pod status, infeasible, more", infeasible(allocated(actual(level(base()), more), more))},
		{"pod status, infeasible, allocated only", infeasible(allocated(level(base()), less))},
		{"pod status, infeasible, no pod level", infeasible(allocated(actual(base(), less), less))},
		{"pod status, infeasible, empty", infeasible(allocated(actual(level(base()), object{}), object{}))},
		{"pod status, infeasible, nothing", infeasible(level(base()))},
		{"pod status, no defaults from it", infeasible(allocated(actual(pod(container("a"), container("b")), object{}), object{}))},
		{"pod status of what cannot be", allocated(actual(level(base()), list("example.com/x", "2")), list("example.com/x", "3"))},
		{"pod status and overhead", with(allocated(actual(level(base()), more), more), "spec", "overhead", list("cpu", "1", "memory", "1"))},
	}
}
