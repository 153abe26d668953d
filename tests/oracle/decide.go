package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// decide judges one pod twice: step by step, to see what every node and plugin says, and then as kube-scheduler does.
func (w *world) decide(line *line) (*result, error) {
	pod := line.Pod
	if w.preempts == nil {
		forgetNominations([]*v1.Pod{pod})
	}
	if err := w.sched.Cache.UpdateSnapshot(klog.FromContext(w.ctx), w.snapshot); err != nil {
		return nil, err
	}
	result := &result{ID: line.ID, Nodes: []nodeResult{}, Best: []string{}}
	if result.PreEnqueue = w.preEnqueue(pod); len(result.PreEnqueue) > 0 {
		return result, nil
	}
	if err := w.judge(pod, result); err != nil {
		result.Error = err.Error()
		return result, nil
	}
	if line.All {
		if err := w.judgeAlone(pod, result); err != nil {
			result.Error = err.Error()
			return result, nil
		}
	}
	if err := w.schedule(pod, result); err != nil {
		return nil, err
	}
	if line.Assume && len(result.Best) > 0 {
		return result, w.assume(pod, result.Best[0])
	}
	return result, nil
}

// preEnqueue asks all plugins, since which one upstream asks first is left to chance.
func (w *world) preEnqueue(pod *v1.Pod) []verdict {
	var verdicts []verdict
	for _, plugin := range w.whole.PreEnqueuePlugins() {
		if refusal := refused(plugin.PreEnqueue(w.ctx, pod)); refusal != nil {
			refusal.Plugin = plugin.Name()
			verdicts = append(verdicts, *refusal)
		}
	}
	sort.Slice(verdicts, func(i, j int) bool { return verdicts[i].Plugin < verdicts[j].Plugin })
	return verdicts
}

// judge runs the filters on every node and the scores on those that pass.
func (w *world) judge(pod *v1.Pod, result *result) error {
	state := framework.NewCycleState()
	eligible, status, excluding := w.whole.RunPreFilterPlugins(w.ctx, state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return status.AsError()
		}
		result.PreFilter = refused(status)
	}
	if result.PreFilter == nil && !eligible.AllNodes() {
		result.Excluded = excluding.UnsortedList()
		sort.Strings(result.Excluded)
	}
	var feasible []fwk.NodeInfo
	for _, node := range w.cluster.Nodes {
		info, err := w.snapshot.Get(node.Name)
		if err != nil {
			return err
		}
		one := nodeResult{Node: node.Name, Rejection: result.PreFilter}
		switch {
		case result.PreFilter != nil:
		case !eligible.AllNodes() && !eligible.NodeNames.Has(node.Name):
			one.Rejection = excluded(result.Excluded)
		default:
			status := w.whole.RunFilterPluginsWithNominatedPods(w.ctx, state, pod, info)
			if !status.IsSuccess() && !status.IsRejected() {
				return status.AsError()
			}
			if one.Rejection = refused(status); one.Rejection == nil {
				feasible = append(feasible, info)
			}
		}
		result.Nodes = append(result.Nodes, one)
	}
	return w.score(state, pod, feasible, result)
}

// excluded is what upstream says of nodes that it does not look at.
func excluded(by []string) *verdict {
	return &verdict{Code: "UU", Reasons: []string{fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", by)}}
}

// score fills in the scores, unless there is nothing to choose from.
func (w *world) score(state fwk.CycleState, pod *v1.Pod, feasible []fwk.NodeInfo, result *result) error {
	if len(feasible) == 1 {
		result.Best = []string{feasible[0].Node().Name}
	}
	if len(feasible) < 2 {
		return nil
	}
	if status := w.whole.RunPreScorePlugins(w.ctx, state, pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	all, status := w.whole.RunScorePlugins(w.ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	highest := slices.MaxFunc(all, func(a, b fwk.NodePluginScores) int { return int(a.TotalScore - b.TotalScore) }).TotalScore
	for _, scores := range all {
		at := slices.IndexFunc(result.Nodes, func(one nodeResult) bool { return one.Node == scores.Name })
		one := &result.Nodes[at]
		one.Total = &scores.TotalScore
		one.Scores = map[string]score{}
		for _, final := range scores.Scores {
			raw := slices.IndexFunc(scores.RawScores, func(raw fwk.PluginScore) bool { return raw.Name == final.Name })
			one.Scores[final.Name] = score{Raw: scores.RawScores[raw].Score, Final: final.Score}
		}
		if scores.TotalScore == highest {
			result.Best = append(result.Best, scores.Name)
		}
	}
	return nil
}

// judgeAlone asks each plugin about every node, whatever the others said of it.
func (w *world) judgeAlone(pod *v1.Pod, result *result) error {
	if result.PreFilter != nil {
		return nil
	}
	for _, plugin := range w.whole.ListPlugins().Filter.Enabled {
		profile, state := w.alone[plugin.Name], framework.NewCycleState()
		_, status, _ := profile.RunPreFilterPlugins(w.ctx, state, pod)
		if !status.IsSuccess() && !status.IsRejected() {
			return status.AsError()
		}
		for i := range result.Nodes {
			one := &result.Nodes[i]
			info, err := w.snapshot.Get(one.Node)
			if err != nil {
				return err
			}
			own := status
			if own.IsSuccess() {
				own = profile.RunFilterPlugins(w.ctx, state, pod, info)
			}
			if refusal := refused(own); refusal != nil {
				one.Filters = append(one.Filters, *refusal)
			}
		}
	}
	return nil
}

// schedule asks for the decision as a whole: the host, or the words in which there is none.
func (w *world) schedule(pod *v1.Pod, result *result) error {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		result.Error = err.Error()
		return nil
	}
	if err := w.pods.Add(pod); err != nil {
		return err
	}
	defer func() { _ = w.pods.Delete(pod) }()
	state := framework.NewCycleState()
	found, err := w.sched.SchedulePod(w.ctx, w.whole, state, &framework.QueuedPodInfo{PodInfo: info})
	var unfit *framework.FitError
	switch {
	case errors.As(err, &unfit):
		w.postFilter(state, pod, unfit, result)
		result.Message = unfit.Error()
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		result.Message = err.Error()
	case err != nil:
		result.Error = err.Error()
	default:
		result.Host = found.SuggestedHost
		if found.FeasibleNodes == 1 {
			// The nominated node was tried first, and the others were not looked at.
			result.Best = []string{result.Host}
		}
	}
	if result.Host == "" != (len(result.Best) == 0) || !w.sample && result.Host != "" && !slices.Contains(result.Best, result.Host) {
		return fmt.Errorf("step by step the best nodes are %v, and at once it is %q", result.Best, result.Host)
	}
	return nil
}
