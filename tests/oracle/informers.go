package main

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// still is an informer whose objects are all there from the start and never change. Handlers hear of them before
// AddEventHandler returns, in the order given, so that nothing depends on when some goroutine runs.
type still struct {
	cache.SharedIndexInformer
	objects []runtime.Object
}

// told stands for a handler that has heard of everything. It only exists to be asked.
type told struct {
	cache.ResourceEventHandlerRegistration
}

func (told) HasSynced() bool { return true }

func (s *still) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, object := range s.objects {
		handler.OnAdd(object, true)
	}
	return told{}, nil
}

func (s *still) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandler(handler)
}

func (s *still) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandler(handler)
}

func (s *still) HasSynced() bool { return true }

// newInformers serves the cluster's objects to whoever asks for a lister or an informer. Kinds that a case cannot
// have get ordinary informers that are never started: empty.
func newInformers(client kubernetes.Interface, c *cluster) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	err := firstError(
		serve(factory, &v1.Pod{}, scheduled(c.Pods)),
		serve(factory, &v1.Node{}, c.Nodes),
		serve(factory, &v1.Namespace{}, c.Namespaces),
		serve(factory, &v1.Service{}, c.Services),
		serve(factory, &v1.ReplicationController{}, c.ReplicationControllers),
		serve(factory, &appsv1.ReplicaSet{}, c.ReplicaSets),
		serve(factory, &appsv1.StatefulSet{}, c.StatefulSets),
		serve(factory, &v1.PersistentVolumeClaim{}, c.PersistentVolumeClaims),
		serve(factory, &v1.PersistentVolume{}, c.PersistentVolumes),
		serve(factory, &storagev1.StorageClass{}, c.StorageClasses),
		serve(factory, &storagev1.CSINode{}, c.CSINodes),
		serve(factory, &storagev1.CSIDriver{}, c.CSIDrivers),
		serve(factory, &storagev1.CSIStorageCapacity{}, c.CSIStorageCapacities),
		serve(factory, &storagev1.VolumeAttachment{}, c.VolumeAttachments),
		serve(factory, &policyv1.PodDisruptionBudget{}, c.PodDisruptionBudgets),
	)
	return factory, err
}

func serve[T runtime.Object](factory informers.SharedInformerFactory, example T, objects []T) error {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	informer := &still{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, example, 0, indexers)}
	for _, object := range objects {
		if err := informer.GetIndexer().Add(object); err != nil {
			return err
		}
		informer.objects = append(informer.objects, object)
	}
	factory.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return informer })
	return nil
}

// scheduled leaves out what kube-scheduler's own watch leaves out.
func scheduled(pods []*v1.Pod) []*v1.Pod {
	var live []*v1.Pod
	for _, pod := range pods {
		if pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed {
			live = append(live, pod)
		}
	}
	return live
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
