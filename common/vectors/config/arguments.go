package main

func arguments() []sample {
	args := func(plugin, name, args string) sample {
		return sample{plugin + " arguments: " + name, head + "profiles:\n- pluginConfig:\n  - name: " + plugin + "\n" + args}
	}
	given := func(plugin, name, text string) sample { return args(plugin, name, "    args: "+text+"\n") }
	affinity := func(name, text string) sample {
		return given("NodeAffinity", name, "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["+text+"]}}}")
	}
	shape := func(plugin, name, points string) sample {
		if plugin == "VolumeBinding" {
			return given(plugin, name, "{shape: ["+points+"]}")
		}
		return given(plugin, name, "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: ["+points+"]}}}")
	}
	var result []sample
	for _, plugin := range []string{"VolumeBinding", "NodeResourcesFit"} {
		result = append(result,
			shape(plugin, "a shape", "{utilization: 0, score: 3}, {utilization: 50, score: 10}"),
			shape(plugin, "a shape of one point", "{utilization: 7, score: 0}"),
			shape(plugin, "a shape out of order", "{utilization: 50, score: 0}, {utilization: 50, score: 1}"),
			shape(plugin, "a shape out of range", "{utilization: -1, score: 11}, {utilization: 101, score: -1}"),
			shape(plugin, "an empty shape", ""),
		)
	}
	return append(result,
		args("NodeAffinity", "none", ""),
		given("NodeAffinity", "null", "null"),
		given("NodeAffinity", "empty", "{}"),
		given("NodeAffinity", "of another kind", "{apiVersion: kubescheduler.config.k8s.io/v1, kind: VolumeBindingArgs}"),
		given("NodeAffinity", "of its kind", "{apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeAffinityArgs}"),
		given("NodeAffinity", "of an older version", "{apiVersion: kubescheduler.config.k8s.io/v1beta2, kind: NodeAffinityArgs}"),
		given("NodeAffinity", "a kind alone", "{kind: NodeAffinityArgs}"),
		given("NodeAffinity", "of a kind that is none", "{kind: NodeAffinityArg}"),
		given("NodeAffinity", "an unknown field", "{addedAfinity: {}}"),
		given("NodeAffinity", "a list", "[]"),
		given("NodeAffinity", "an empty affinity", "{addedAffinity: {}}"),
		given("NodeAffinity", "no terms", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"),
		affinity("every operator", "{matchExpressions: [{key: a, operator: In, values: [x, '']}, {key: b.example/c, operator: NotIn, values: [v]}, {key: d, operator: Exists}, {key: e, operator: DoesNotExist}, {key: f, operator: Gt, values: ['3']}, {key: g, operator: Lt, values: ['44']}]}, {matchFields: [{key: metadata.name, operator: In, values: [node-1]}, {key: metadata.name, operator: NotIn, values: [node-2]}]}"),
		affinity("an empty term", "{}"),
		affinity("no values", "{matchExpressions: [{key: a, operator: In}]}"),
		affinity("values for Exists", "{matchExpressions: [{key: a, operator: Exists, values: [b]}]}"),
		affinity("two values for Gt", "{matchExpressions: [{key: a, operator: Gt, values: ['1', '2']}]}"),
		affinity("a word for Lt", "{matchExpressions: [{key: a, operator: Lt, values: [x]}]}"),
		affinity("an unknown operator", "{matchExpressions: [{key: a, operator: in, values: [x]}]}"),
		affinity("no operator", "{matchExpressions: [{key: a}]}"),
		affinity("a key that is none", "{matchExpressions: [{key: a b, operator: Exists}, {operator: Exists}]}"),
		affinity("a value that is none", "{matchExpressions: [{key: a, operator: In, values: [x, y z]}]}"),
		affinity("two fields", "{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}"),
		affinity("a field that exists", "{matchFields: [{key: metadata.name, operator: Exists}]}"),
		given("NodeAffinity", "preferences", "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: a, operator: Exists}]}}, {weight: 0, preference: {matchExpressions: [{key: ' ', operator: Exists}]}}, {weight: 2, preference: {}}]}}"),
		given("NodeAffinity", "a wrong preference", "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: a, operator: Like}]}}]}}"),
		given("DefaultPreemption", "both", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1}"),
		given("DefaultPreemption", "both zero", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"),
		given("DefaultPreemption", "out of range", "{minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}"),
		given("InterPodAffinity", "both", "{hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true}"),
		given("InterPodAffinity", "zero", "{hardPodAffinityWeight: 0}"),
		given("InterPodAffinity", "out of range", "{hardPodAffinityWeight: 101}"),
		given("NodeResourcesBalancedAllocation", "resources", "{resources: [{name: cpu}, {name: nvidia.com/gpu, weight: 0}, {name: memory, weight: 1}]}"),
		given("NodeResourcesBalancedAllocation", "a weight", "{resources: [{name: cpu, weight: 2}]}"),
		given("NodeResourcesBalancedAllocation", "twice", "{resources: [{name: cpu}, {name: cpu}]}"),
		given("NodeResourcesFit", "most allocated", "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: example.com/foo}]}}"),
		given("NodeResourcesFit", "ignored", "{ignoredResources: [example.com/foo], ignoredResourceGroups: [example.org]}"),
		given("NodeResourcesFit", "ignored, not names", "{ignoredResources: ['a b'], ignoredResourceGroups: [example.org/x, '-']}"),
		given("NodeResourcesFit", "no type", "{scoringStrategy: {resources: [{name: cpu}]}}"),
		given("NodeResourcesFit", "an unknown type", "{scoringStrategy: {type: LeastAllocatd}}"),
		given("NodeResourcesFit", "weights out of range", "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}, {name: memory, weight: -1}]}}"),
		given("NodeResourcesFit", "a ratio without its shape", "{scoringStrategy: {type: RequestedToCapacityRatio}}"),
		given("NodeResourcesFit", "a ratio for another type", "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}]}}}"),
		given("PodTopologySpread", "a list", "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 3, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, matchLabelKeys: [app]}]}"),
		given("PodTopologySpread", "an empty list", "{defaultingType: List}"),
		given("PodTopologySpread", "a list for System", "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}"),
		given("PodTopologySpread", "an unknown type", "{defaultingType: list}"),
		given("PodTopologySpread", "wrong constraints", "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: '', whenUnsatisfiable: ''}, {maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: Never}, {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}"),
		given("VolumeBinding", "a timeout", "{bindTimeoutSeconds: 0}"),
		given("VolumeBinding", "a negative timeout", "{bindTimeoutSeconds: -1}"),
		given("DynamicResources", "timeouts", "{filterTimeout: 0s, bindingTimeout: 1s}"),
		given("DynamicResources", "timeouts out of range", "{filterTimeout: -1s, bindingTimeout: 999ms}"),
		given("NodeName", "for a plugin that takes none", "{a: b}"),
		sample{"arguments twice", head + "profiles: [{pluginConfig: [{name: VolumeBinding, args: {}}, {name: VolumeBinding, args: {}}]}]\n"},
		sample{"arguments of a plugin of before", head + "profiles: [{pluginConfig: [{name: EBSLimits}]}]\n"},
		sample{"arguments of a plugin that is off", head + "profiles: [{plugins: {multiPoint: {disabled: [{name: VolumeBinding}]}}, pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 5}}]}]\n"},
		sample{"arguments of a profile", head + "profiles: [{schedulerName: a, pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 5}}]}, {schedulerName: b}]\n"},
	)
}
