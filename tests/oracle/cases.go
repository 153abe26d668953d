package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// line is one line of a case file: a cluster, or a pod that is to be placed in the last cluster.
type line struct {
	ID string `json:"id"`
	// Of a cluster.
	Cluster *cluster `json:"cluster"`
	Plugins []string `json:"plugins"`
	Sample  bool     `json:"sample"`
	// Of a pod.
	Pod    *v1.Pod `json:"pod"`
	Assume bool    `json:"assume"`
	All    bool    `json:"all"`
	// Of a pod that was refused: what happens then.
	Change *change `json:"change"`
}

// cluster holds objects as the API server would return them, defaults filled in.
type cluster struct {
	Nodes                  []*v1.Node                      `json:"nodes"`
	Pods                   []*v1.Pod                       `json:"pods"`
	Namespaces             []*v1.Namespace                 `json:"namespaces"`
	Services               []*v1.Service                   `json:"services"`
	ReplicationControllers []*v1.ReplicationController     `json:"replicationControllers"`
	ReplicaSets            []*appsv1.ReplicaSet            `json:"replicaSets"`
	StatefulSets           []*appsv1.StatefulSet           `json:"statefulSets"`
	PersistentVolumeClaims []*v1.PersistentVolumeClaim     `json:"persistentVolumeClaims"`
	PersistentVolumes      []*v1.PersistentVolume          `json:"persistentVolumes"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses"`
	CSINodes               []*storagev1.CSINode            `json:"csiNodes"`
	CSIDrivers             []*storagev1.CSIDriver          `json:"csiDrivers"`
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity `json:"csiStorageCapacities"`
	VolumeAttachments      []*storagev1.VolumeAttachment   `json:"volumeAttachments"`
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`
}

// parse is strict, because a misspelt field would make a case mean something else without anybody noticing.
func parse(text []byte) (*line, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	line := &line{}
	if err := decoder.Decode(line); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("more than one JSON value")
	}
	if (line.Cluster == nil) == (line.Pod == nil) {
		return nil, errors.New("neither a cluster nor a pod, or both")
	}
	if line.Pod != nil {
		return line, admit(line.Pod)
	}
	return line, line.Cluster.check()
}

// check admits all pods, and finds what upstream's cache would silently confuse.
func (c *cluster) check() error {
	nodes := map[string]bool{}
	for _, node := range c.Nodes {
		if node.Name == "" || nodes[node.Name] {
			return fmt.Errorf("node %q: the name is empty or taken", node.Name)
		}
		nodes[node.Name] = true
	}
	uids := map[string]bool{}
	for _, pod := range c.Pods {
		if err := admit(pod); err != nil {
			return err
		}
		if uids[string(pod.UID)] {
			return fmt.Errorf("pod %s/%s: the uid %s is taken", pod.Namespace, pod.Name, pod.UID)
		}
		uids[string(pod.UID)] = true
	}
	return nil
}
