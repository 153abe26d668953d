package main

func plugins() []sample {
	profile := func(name, plugins string) sample {
		return sample{"plugins: " + name, head + "profiles:\n- plugins:\n" + plugins}
	}
	return []sample{
		profile("none", "    {}\n"),
		profile("null", "    null\n"),
		profile("empty sets", "    filter: {}\n    score: {enabled: [], disabled: null}\n"),
		profile("score weight of a default", "    score: {enabled: [{name: NodeResourcesFit, weight: 5}]}\n"),
		profile("score without a weight", "    score: {enabled: [{name: TaintToleration}]}\n"),
		profile("score weight 0", "    score: {enabled: [{name: TaintToleration, weight: 0}]}\n"),
		profile("score weight negative", "    score: {enabled: [{name: TaintToleration, weight: -3}]}\n"),
		profile("score weight at 32 bits", "    score: {enabled: [{name: TaintToleration, weight: 2147483647}]}\n"),
		profile("score weight beyond 32 bits", "    score: {enabled: [{name: TaintToleration, weight: 2147483648}]}\n"),
		profile("score disabled one", "    score: {disabled: [{name: ImageLocality}]}\n"),
		profile("score disabled all", "    score: {disabled: [{name: '*'}]}\n"),
		profile("score disabled all, two enabled", "    score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 9}, {name: NodeAffinity}]}\n"),
		profile("disabled and enabled the same", "    score: {disabled: [{name: ImageLocality}], enabled: [{name: ImageLocality, weight: 4}]}\n"),
		profile("disabled with a weight", "    score: {disabled: [{name: ImageLocality, weight: 3}]}\n"),
		profile("own order at a point", "    filter: {enabled: [{name: NodeResourcesFit}, {name: NodeName}]}\n"),
		profile("filter of a plugin taken out of multiPoint", "    multiPoint: {disabled: [{name: NodePorts}]}\n    filter: {enabled: [{name: NodePorts}]}\n"),
		profile("twice at a point", "    filter: {enabled: [{name: NodeName}, {name: NodeName}]}\n"),
		profile("twice in multiPoint", "    multiPoint: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}\n"),
		profile("twice in multiPoint after all disabled", "    multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: ImageLocality}, {name: ImageLocality}]}\n"),
		profile("twice in multiPoint, and at its point", "    multiPoint: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}\n    score: {enabled: [{name: ImageLocality, weight: 7}]}\n"),
		profile("multiPoint weight", "    multiPoint: {enabled: [{name: ImageLocality, weight: 8}]}\n"),
		profile("multiPoint weight, twice", "    multiPoint: {enabled: [{name: ImageLocality, weight: 8}]}\n    score: {enabled: [{name: ImageLocality, weight: 7}]}\n"),
		profile("multiPoint without a weight", "    multiPoint: {enabled: [{name: TaintToleration}]}\n"),
		profile("multiPoint disabled one", "    multiPoint: {disabled: [{name: NodeAffinity}]}\n"),
		profile("multiPoint disabled all", "    multiPoint: {disabled: [{name: '*'}]}\n"),
		profile("multiPoint disabled all, few enabled", "    multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}, {name: PrioritySort}, {name: DefaultBinder}, {name: NodeName}]}\n"),
		profile("multiPoint disabled all, points enabled", "    multiPoint: {disabled: [{name: '*'}]}\n    queueSort: {enabled: [{name: PrioritySort}]}\n    bind: {enabled: [{name: DefaultBinder}]}\n    score: {enabled: [{name: NodeResourcesFit, weight: 2}]}\n"),
		profile("multiPoint re-enabled in another order", "    multiPoint: {disabled: [{name: NodeName}, {name: TaintToleration}], enabled: [{name: TaintToleration, weight: 6}, {name: NodeName}]}\n"),
		profile("multiPoint disabled, point enabled", "    multiPoint: {disabled: [{name: TaintToleration}]}\n    score: {enabled: [{name: TaintToleration, weight: 6}]}\n"),
		profile("a point disabled, multiPoint enabled", "    multiPoint: {enabled: [{name: TaintToleration, weight: 6}]}\n    filter: {disabled: [{name: TaintToleration}]}\n"),
		profile("all points disabled", "    multiPoint: {enabled: [{name: NodeName}]}\n    filter: {disabled: [{name: '*'}]}\n    preFilter: {disabled: [{name: '*'}]}\n    preScore: {disabled: [{name: '*'}]}\n    postFilter: {disabled: [{name: '*'}]}\n    reserve: {disabled: [{name: '*'}]}\n    preBind: {disabled: [{name: '*'}]}\n    preEnqueue: {disabled: [{name: '*'}]}\n    placementScore: {disabled: [{name: '*'}]}\n    podGroupPostFilter: {disabled: [{name: '*'}]}\n"),
		profile("no binder", "    bind: {disabled: [{name: '*'}]}\n"),
		profile("no queue order", "    queueSort: {disabled: [{name: PrioritySort}]}\n"),
		profile("queue order named", "    queueSort: {enabled: [{name: PrioritySort}]}\n"),
		profile("queue order twice", "    queueSort: {enabled: [{name: PrioritySort}, {name: PrioritySort}]}\n"),
		profile("two queue orders", "    queueSort: {enabled: [{name: PrioritySort}, {name: DefaultBinder}]}\n"),
		profile("a filter at score", "    score: {enabled: [{name: NodeName}]}\n"),
		profile("a scorer at filter", "    filter: {enabled: [{name: ImageLocality}]}\n"),
		profile("an unknown plugin", "    filter: {enabled: [{name: NodeNam}]}\n"),
		profile("an unknown plugin in multiPoint", "    multiPoint: {enabled: [{name: NodeNam}]}\n"),
		profile("a plugin of before", "    filter: {enabled: [{name: EBSLimits}]}\n"),
		profile("a scorer of before", "    score: {enabled: [{name: NodeResourcesLeastAllocated}]}\n"),
		profile("a name missing", "    filter: {enabled: [{weight: 3}]}\n"),
		profile("a name in another case", "    filter: {enabled: [{name: nodename}]}\n"),
		profile("an unknown point", "    filters: {enabled: [{name: NodeName}]}\n"),
		profile("an unknown field of a set", "    filter: {enable: [{name: NodeName}]}\n"),
		profile("an unknown field of a plugin", "    filter: {enabled: [{name: NodeName, wight: 3}]}\n"),
		profile("names without the word name", "    filter: {enabled: [NodeName]}\n"),
		profile("permit and postBind, which nobody is", "    permit: {disabled: [{name: '*'}]}\n    postBind: {disabled: [{name: '*'}]}\n"),
		profile("the star as a plugin", "    filter: {enabled: [{name: '*'}]}\n"),
		profile("a placement scorer", "    placementScore: {enabled: [{name: NodeResourcesFit, weight: 4}]}\n"),
		profile("a pod group's post filter", "    podGroupPostFilter: {disabled: [{name: DefaultPreemption}]}\n"),
		profile("plugins behind gates", "    multiPoint: {enabled: [{name: GangScheduling}, {name: DeferredPodScheduling}, {name: TopologyPlacementGenerator}, {name: PodGroupPodsCount, weight: 3}]}\n"),
		{"queue orders that differ", head + "profiles:\n- schedulerName: a\n  plugins: {queueSort: {enabled: [{name: PrioritySort}]}}\n- schedulerName: b\n"},
		{"queue orders that are written alike", head + "profiles:\n- schedulerName: a\n  plugins: {queueSort: {enabled: [{name: PrioritySort}]}}\n- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: PrioritySort}]}}\n"},
		{"three profiles", head + "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {score: {disabled: [{name: '*'}]}}\n- schedulerName: c\n  percentageOfNodesToScore: 7\n  plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: 3}]}}\n"},
	}
}

func extenders() []sample {
	extender := func(name, text string) sample {
		return sample{"extenders: " + name, head + "extenders:\n" + text}
	}
	return []sample{
		extender("the least", "- urlPrefix: http://a\n"),
		extender("every field", `- urlPrefix: https://extender.example:8080/scheduler/
  filterVerb: filter
  preemptVerb: preempt
  prioritizeVerb: prioritize
  weight: 5
  bindVerb: bind
  enableHTTPS: true
  tlsConfig: {insecure: true, serverName: extender}
  httpTimeout: 1500ms
  nodeCacheCapable: true
  managedResources: [{name: example.com/foo, ignoredByScheduler: true}, {name: example.com/bar}]
  ignorable: true
`),
		extender("resources that the scheduler ignores", `- {urlPrefix: a, managedResources: [{name: example.com/foo, ignoredByScheduler: true}]}
- {urlPrefix: b, managedResources: [{name: example.com/bar, ignoredByScheduler: true}]}
profiles:
- schedulerName: a
- schedulerName: b
  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/other]}}]
`),
		extender("score without a weight", "- {urlPrefix: a, prioritizeVerb: p}\n"),
		extender("score with a negative weight", "- {urlPrefix: a, prioritizeVerb: p, weight: -1}\n"),
		extender("weight without a verb", "- {urlPrefix: a, weight: -1}\n"),
		extender("two binders", "- {urlPrefix: a, bindVerb: b}\n- {urlPrefix: b, bindVerb: b}\n"),
		extender("no resource name", "- {urlPrefix: a, managedResources: [{ignoredByScheduler: true}]}\n"),
		extender("a native resource", "- {urlPrefix: a, managedResources: [{name: cpu}]}\n"),
		extender("a native resource with a prefix", "- {urlPrefix: a, managedResources: [{name: kubernetes.io/foo}]}\n"),
		extender("a resource of quotas", "- {urlPrefix: a, managedResources: [{name: requests.example.com/foo}]}\n"),
		extender("a resource that is no name", "- {urlPrefix: a, managedResources: [{name: example.com/foo_}, {name: a/b/c}, {name: /foo}, {name: EXAMPLE.com/foo}, {name: example.com/}]}\n"),
		extender("the same resource twice", "- {urlPrefix: a, managedResources: [{name: example.com/foo}]}\n- {urlPrefix: b, managedResources: [{name: example.com/foo}]}\n"),
		extender("an unknown field", "- {urlPrefix: a, enableHttps: true}\n"),
		extender("base64 that is not", "- {urlPrefix: a, tlsConfig: {caData: '!'}}\n"),
		extender("timeout as a number", "- {urlPrefix: a, httpTimeout: 100}\n"),
		extender("insecure with roots", "- {urlPrefix: a, enableHTTPS: true, tlsConfig: {insecure: true, caFile: a}}\n"),
		extender("nothing", "- {}\n"),
	}
}
