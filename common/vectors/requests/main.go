// Prints the golden vectors of pod requests: one line of JSON for each pod, with what kube-scheduler makes of it.
//
// Pods are written as raw JSON, because a missing, a null and an empty field are not the same.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedutil "k8s.io/kubernetes/pkg/scheduler/util"
)

type vector struct {
	Name            string          `json:"name"`
	Pod             json.RawMessage `json:"pod"`
	Incoming        resources       `json:"incoming"`
	Counted         resources       `json:"counted"`
	NonZeroIncoming nonZero         `json:"non_zero_incoming"`
	NonZeroCounted  nonZero         `json:"non_zero_counted"`
}

type resources struct {
	CPU              int64                     `json:"cpu"`
	Memory           int64                     `json:"memory"`
	EphemeralStorage int64                     `json:"ephemeral_storage"`
	Scalars          map[v1.ResourceName]int64 `json:"scalars,omitempty"`
}

type nonZero struct {
	CPU    int64 `json:"cpu"`
	Memory int64 `json:"memory"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, named := range append(chosen(), random()...) {
		if err := encoder.Encode(judge(named.name, named.pod)); err != nil {
			panic(err)
		}
	}
}

func judge(name string, source object) vector {
	raw, err := json.Marshal(source)
	if err != nil {
		panic(err)
	}
	node := framework.NewNodeInfo(decode(name, raw))
	return vector{
		Name:            name,
		Pod:             raw,
		Incoming:        incoming(decode(name, raw)),
		Counted:         convert(node.Requested),
		NonZeroIncoming: nonZeroIncoming(decode(name, raw)),
		NonZeroCounted:  nonZero{CPU: node.NonZeroRequested.MilliCPU, Memory: node.NonZeroRequested.Memory},
	}
}

// decode makes a fresh pod, so that no question sees what another one left behind.
func decode(name string, raw []byte) *v1.Pod {
	pod := &v1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return pod
}

// incoming calls what the filter of NodeResourcesFit calls, with the gates at their defaults.
func incoming(pod *v1.Pod) resources {
	result := &framework.Resource{}
	result.SetMaxResource(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
	return convert(result)
}

// nonZeroIncoming calls what the scorers of NodeResourcesFit call. They are made without the gate for pod-level
// resources, whatever it says, and do not look at the status.
func nonZeroIncoming(pod *v1.Pod) nonZero {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		SkipPodLevelResources: true,
		NonMissingContainerRequests: v1.ResourceList{
			v1.ResourceCPU:    *resource.NewMilliQuantity(schedutil.DefaultMilliCPURequest, resource.DecimalSI),
			v1.ResourceMemory: *resource.NewQuantity(schedutil.DefaultMemoryRequest, resource.DecimalSI),
		},
	})
	return nonZero{CPU: requests.Cpu().MilliValue(), Memory: requests.Memory().Value()}
}

func convert(from *framework.Resource) resources {
	to := resources{CPU: from.MilliCPU, Memory: from.Memory, EphemeralStorage: from.EphemeralStorage}
	for name, amount := range from.ScalarResources {
		if amount == 0 {
			continue
		}
		if to.Scalars == nil {
			to.Scalars = map[v1.ResourceName]int64{}
		}
		to.Scalars[name] = amount
	}
	return to
}
