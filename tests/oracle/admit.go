package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// admit checks a pod and writes its quantities as the API server would. That matters: kube-scheduler alters some
// quantities that it has read from other spellings, such as 1.5Ki, while adding them up.
func admit(pod *v1.Pod) error {
	if pod.Namespace == "" || pod.Name == "" || pod.UID == "" {
		return fmt.Errorf("pod %q in %q with uid %q: all three are needed", pod.Name, pod.Namespace, pod.UID)
	}
	for _, list := range resourceLists(pod) {
		for name, quantity := range list {
			canonical, err := resource.ParseQuantity(quantity.String())
			if err != nil {
				return fmt.Errorf("pod %s/%s: %s: %w", pod.Namespace, pod.Name, name, err)
			}
			list[name] = canonical
		}
	}
	return nil
}

// resourceLists are all places where a pod has quantities that schedulers add up.
func resourceLists(pod *v1.Pod) []v1.ResourceList {
	lists := []v1.ResourceList{pod.Spec.Overhead, pod.Status.AllocatedResources}
	for _, whole := range []*v1.ResourceRequirements{pod.Spec.Resources, pod.Status.Resources} {
		if whole != nil {
			lists = append(lists, whole.Requests)
		}
	}
	for _, containers := range [][]v1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for _, container := range containers {
			lists = append(lists, container.Resources.Requests)
		}
	}
	for _, statuses := range [][]v1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for _, status := range statuses {
			lists = append(lists, status.AllocatedResources)
			if status.Resources != nil {
				lists = append(lists, status.Resources.Requests)
			}
		}
	}
	return lists
}
