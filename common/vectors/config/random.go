package main

import (
	"fmt"
	"math/rand"

	"sigs.k8s.io/yaml"
)

const randomCount = 150

// names are those of the default profile; every one can be enabled and disabled.
var names = []string{
	"SchedulingGates", "PrioritySort", "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts",
	"NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
	"InterPodAffinity", "DynamicResources", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality",
	"DefaultBinder", "NodeDeclaredFeatures",
}

// fitting are some that fit each extension point, so that most mixes load.
var fitting = map[string][]string{
	"preEnqueue":     {"SchedulingGates", "DynamicResources", "DefaultPreemption"},
	"preFilter":      {"NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeBinding", "InterPodAffinity"},
	"filter":         names[2:13],
	"postFilter":     {"DynamicResources", "DefaultPreemption"},
	"preScore":       {"TaintToleration", "NodeAffinity", "InterPodAffinity", "NodeResourcesBalancedAllocation"},
	"score":          {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "ImageLocality", "VolumeBinding"},
	"reserve":        {"VolumeBinding", "DynamicResources"},
	"preBind":        {"VolumeBinding", "DynamicResources"},
	"placementScore": {"NodeResourcesFit"},
}

type object = map[string]any

// random returns mixes of enabled, disabled, multiPoint and weights; the same on every run.
func random() []sample {
	source := rand.New(rand.NewSource(37))
	var result []sample
	for i := range randomCount {
		var profiles []object
		for p := range 1 + source.Intn(10)/8 {
			profiles = append(profiles, object{"schedulerName": fmt.Sprint("s", p), "plugins": mix(source)})
		}
		text, err := yaml.Marshal(object{"profiles": profiles})
		if err != nil {
			panic(err)
		}
		result = append(result, sample{fmt.Sprint("random ", i), head + string(text)})
	}
	return result
}

func mix(source *rand.Rand) object {
	plugins := object{}
	for _, point := range []string{"preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "preBind", "placementScore"} {
		if source.Intn(3) == 0 {
			plugins[point] = set(source, fitting[point], 4)
		}
	}
	if source.Intn(2) == 0 {
		plugins["multiPoint"] = set(source, names[2:18], 8)
	}
	return plugins
}

// set enables and disables some of the names, rarely one of them twice, and rarely disables all.
func set(source *rand.Rand, names []string, rarely int) object {
	var enabled, disabled []object
	for _, i := range source.Perm(len(names))[:source.Intn(min(len(names), 5)+1)] {
		plugin := object{"name": names[i]}
		if source.Intn(2) == 0 {
			plugin["weight"] = source.Intn(6)
		}
		enabled = append(enabled, plugin)
		if source.Intn(30) == 0 {
			enabled = append(enabled, plugin)
		}
	}
	for _, i := range source.Perm(len(names))[:source.Intn(min(len(names), 3)+1)] {
		disabled = append(disabled, object{"name": names[i]})
	}
	if source.Intn(rarely) == 0 {
		disabled = append(disabled, object{"name": "*"})
	}
	result := object{}
	if len(enabled) > 0 {
		result["enabled"] = enabled
	}
	if len(disabled) > 0 {
		result["disabled"] = disabled
	}
	return result
}
