package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
)

// change is what happens to an object of the cluster; an object that was not there before, or is gone, is absent.
type change struct {
	Kind string          `json:"kind"`
	Old  json.RawMessage `json:"old"`
	New  json.RawMessage `json:"new"`
}

// hintResult says of each plugin whether it would have the pod tried again after the change.
type hintResult struct {
	ID    string          `json:"id"`
	Hints map[string]bool `json:"hints"`
	// Room is whether the node of an assigned pod then has room, all pods aside that the pod could preempt.
	Room bool `json:"room"`
}

// hint asks the plugins of the profile about the change, as the scheduling queue does, but all of them.
func (w *world) hint(line *line) (*hintResult, error) {
	before, after, events, err := line.Change.decode()
	if err != nil {
		return nil, err
	}
	result := &hintResult{ID: line.ID, Hints: map[string]bool{}}
	for _, plugin := range w.whole.EnqueueExtensions() {
		registered, err := plugin.EventsToRegister(w.ctx)
		if err != nil {
			return nil, err
		}
		result.Hints[plugin.Name()] = false
		for _, registered := range registered {
			queue, err := w.queues(registered, line.Pod, events, before, after)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", plugin.Name(), err)
			}
			result.Hints[plugin.Name()] = result.Hints[plugin.Name()] || queue
		}
	}
	if pod, ok := either(before, after).(*v1.Pod); ok && line.Change.Kind == string(fwk.AssignedPod) {
		result.Room, err = w.room(line.Pod, pod, after == nil)
	}
	return result, err
}

func (w *world) queues(registered fwk.ClusterEventWithHint, pod *v1.Pod, events []fwk.ClusterEvent, before, after any) (bool, error) {
	for _, event := range events {
		if !framework.MatchClusterEvents(registered.Event, event) {
			continue
		}
		if registered.QueueingHintFn == nil {
			return true, nil
		}
		hint, err := registered.QueueingHintFn(klog.FromContext(w.ctx), pod, before, after)
		if hint == fwk.Queue || err != nil {
			return true, err
		}
	}
	return false, nil
}

func either(before, after any) any {
	if after != nil {
		return after
	}
	return before
}

// room is whether the node has room for the pod once changed has changed, or is gone.
func (w *world) room(pod, changed *v1.Pod, gone bool) (bool, error) {
	if err := w.sched.Cache.UpdateSnapshot(klog.FromContext(w.ctx), w.snapshot); err != nil {
		return false, err
	}
	name := changed.Spec.NodeName
	if name == "" {
		name = changed.Status.NominatedNodeName
	}
	known, err := w.snapshot.Get(name)
	if err != nil {
		return false, nil
	}
	stays := func(other *v1.Pod) bool {
		never := pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == v1.PreemptNever
		return never || corev1helpers.PodPriority(other) >= corev1helpers.PodPriority(pod)
	}
	info := framework.NewNodeInfo()
	for _, other := range known.GetPods() {
		if other.GetPod().UID != changed.UID && stays(other.GetPod()) {
			info.AddPod(other.GetPod())
		}
	}
	if !gone && stays(changed) {
		info.AddPod(changed)
	}
	info.SetNode(known.Node())
	options := noderesources.ResourceRequestsOptions{EnablePodLevelResources: true}
	return len(noderesources.Fits(pod, info, nil, options)) == 0, nil
}

// decode returns the object before and after, and the events that the scheduler makes of the change.
func (c *change) decode() (before, after any, events []fwk.ClusterEvent, err error) {
	switch resource := fwk.EventResource(c.Kind); resource {
	case fwk.AssignedPod, fwk.TargetPod:
		return decode(c, resource, func(old, new *v1.Pod) []fwk.ClusterEvent {
			return framework.PodSchedulingPropertiesChange(new, old, resource == fwk.TargetPod)
		})
	case fwk.Node:
		return decode(c, resource, func(old, new *v1.Node) []fwk.ClusterEvent {
			return framework.NodeSchedulingPropertiesChange(new, old)
		})
	case fwk.PersistentVolumeClaim:
		return decode[v1.PersistentVolumeClaim](c, resource, nil)
	case fwk.PersistentVolume:
		return decode[v1.PersistentVolume](c, resource, nil)
	}
	switch resource := fwk.EventResource("storage.k8s.io/" + c.Kind); resource {
	case fwk.StorageClass:
		return decode[storagev1.StorageClass](c, resource, nil)
	case fwk.CSINode:
		return decode[storagev1.CSINode](c, resource, nil)
	case fwk.CSIDriver:
		return decode[storagev1.CSIDriver](c, resource, nil)
	case fwk.CSIStorageCapacity:
		return decode[storagev1.CSIStorageCapacity](c, resource, nil)
	case fwk.VolumeAttachment:
		return decode[storagev1.VolumeAttachment](c, resource, nil)
	}
	return nil, nil, nil, fmt.Errorf("a change of kind %q", c.Kind)
}

func decode[T any](c *change, resource fwk.EventResource, updates func(old, new *T) []fwk.ClusterEvent) (before, after any, events []fwk.ClusterEvent, err error) {
	old, err := object[T](c.Old)
	if err != nil {
		return nil, nil, nil, err
	}
	new, err := object[T](c.New)
	if err != nil {
		return nil, nil, nil, err
	}
	// A nil pointer in an interface is not nil.
	if old != nil {
		before = old
	}
	if new != nil {
		after = new
	}
	action := fwk.Update
	switch {
	case old == nil:
		action = fwk.Add
	case new == nil:
		action = fwk.Delete
	case updates != nil:
		return before, after, updates(old, new), nil
	}
	return before, after, []fwk.ClusterEvent{{Resource: resource, ActionType: action}}, nil
}

func object[T any](text json.RawMessage) (*T, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	object := new(T)
	if err := decoder.Decode(object); err != nil {
		return nil, err
	}
	if pod, ok := any(object).(*v1.Pod); ok {
		return object, admit(pod)
	}
	return object, nil
}
