package main

import (
	"math"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// postFilter lets the profile find room for a pod that fits nowhere, and adds what it says to the error.
func (w *world) postFilter(state fwk.CycleState, pod *v1.Pod, unfit *framework.FitError, result *result) {
	if !w.whole.HasPostFilterPlugins() {
		return
	}
	reader := unfit.Diagnosis.NodeToStatus
	candidates := w.candidates(state, pod, reader)
	found, status := w.whole.RunPostFilterPlugins(w.ctx, state, pod, reader)
	unfit.Diagnosis.PostFilterMsg = status.Message()
	if w.preempts == nil {
		return
	}
	result.Preemption = &preemption{Candidates: candidates}
	if found != nil && found.NominatingInfo != nil {
		result.Preemption.Nominated = found.NominatedNodeName
	}
}

// candidates are all nodes that have victims. Which of them upstream takes is partly left to chance; these are not.
func (w *world) candidates(state fwk.CycleState, pod *v1.Pod, reader *framework.NodeToStatus) map[string]candidate {
	if w.preempts == nil {
		return nil
	}
	nominated := reader.Get(pod.Status.NominatedNodeName)
	if eligible, _ := w.preempts.PodEligibleToPreemptOthers(w.ctx, pod, nominated); !eligible {
		return nil
	}
	nodes, err := reader.NodesForStatusCode(w.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil
	}
	budgets := w.cluster.PodDisruptionBudgets
	// An error about one node does not take away the others; RunPostFilterPlugins reports it.
	found, _, _ := w.preempts.Evaluator.DryRunPreemption(w.ctx, state, pod, nodes, budgets, 0, int32(len(nodes)))
	candidates := map[string]candidate{}
	for _, one := range found {
		candidates[one.Name()] = ranked(one.Victims().Pods, one.Victims().NumPDBViolations)
	}
	return candidates
}

// ranked is what the choice between candidates goes by. Priorities are counted from the lowest there is, as upstream does,
// so that each further victim makes a sum larger.
func ranked(victims []*v1.Pod, violations int64) candidate {
	result := candidate{Victims: []string{}, Violations: violations, HighestPriority: math.MinInt32}
	for _, victim := range victims {
		result.Victims = append(result.Victims, victim.Namespace+"/"+victim.Name)
		priority := int64(corev1helpers.PodPriority(victim))
		result.PrioritySum += priority - math.MinInt32
		if priority > result.HighestPriority {
			result.HighestPriority, result.EarliestStart = priority, nil
		}
		start := victim.Status.StartTime
		if priority == result.HighestPriority && start != nil && (result.EarliestStart == nil || start.Before(result.EarliestStart)) {
			result.EarliestStart = start
		}
	}
	return result
}
