package main

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// needed are the plugins without which no profile can be built. They decide nothing here.
var needed = []string{names.PrioritySort, names.DefaultBinder}

// profiles returns the profile that decides, which has the given plugins of the default one in its order and with its
// weights, and for each of them a profile with that one alone. No plugins given means all.
func profiles(wanted []string) ([]config.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	whole := defaults.Profiles[0]
	enabled := whole.Plugins.MultiPoint.Enabled
	for _, name := range wanted {
		if !slices.ContainsFunc(enabled, func(plugin config.Plugin) bool { return plugin.Name == name }) {
			return nil, fmt.Errorf("plugins: %q is not in the default profile", name)
		}
	}
	result := []config.KubeSchedulerProfile{only(whole, v1.DefaultSchedulerName, func(name string) bool {
		return len(wanted) == 0 || slices.Contains(wanted, name)
	})}
	for _, plugin := range result[0].Plugins.MultiPoint.Enabled {
		if !slices.Contains(needed, plugin.Name) && plugin.Name != names.DefaultPreemption {
			alone := func(name string) bool { return name == plugin.Name }
			result = append(result, only(whole, plugin.Name, alone))
		}
	}
	return result, nil
}

// only is profile under another name, with the plugins that keep says, and those needed.
func only(profile config.KubeSchedulerProfile, name string, keep func(string) bool) config.KubeSchedulerProfile {
	kept := profile.DeepCopy()
	kept.SchedulerName = name
	kept.Plugins.MultiPoint.Enabled = slices.DeleteFunc(kept.Plugins.MultiPoint.Enabled, func(plugin config.Plugin) bool {
		return !keep(plugin.Name) && !slices.Contains(needed, plugin.Name)
	})
	return *kept
}
