package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// world is a scheduler that believes in one cluster. It is asked, never run: no goroutine of it decides anything.
type world struct {
	cluster *cluster
	sample  bool
	ctx     context.Context
	cancel  context.CancelFunc
	sched   *scheduler.Scheduler
	// pods is what the pod lister reads. A pod must be there while it is decided on, as it is in a real scheduler.
	pods     cache.Indexer
	snapshot *internalcache.Snapshot
	// whole decides; alone has, by name, each of its plugins by itself.
	whole framework.Framework
	alone map[string]framework.Framework
	// preempts is nil in a profile without preemption.
	preempts *defaultpreemption.DefaultPreemption
}

// client lets every write happen to nobody: a case asks what would be done.
var client = func() kubernetes.Interface {
	client := fake.NewClientset()
	client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &v1.Pod{}, nil
	})
	return client
}()

func newWorld(line *line) (*world, error) {
	profiles, err := profiles(line.Plugins)
	if err != nil {
		return nil, err
	}
	w := &world{cluster: line.Cluster, sample: line.Sample, snapshot: internalcache.NewEmptySnapshot()}
	if !preempts(profiles[0]) {
		forgetNominations(line.Cluster.Pods)
	}
	w.ctx, w.cancel = context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	if err := w.start(profiles); err != nil {
		w.cancel()
		return nil, err
	}
	return w, nil
}

func (w *world) start(profiles []config.KubeSchedulerProfile) error {
	informers, err := newInformers(client, w.cluster)
	if err != nil {
		return err
	}
	// All nodes are looked at, unless a case is about looking at some only.
	everything := int32(100)
	if w.sample {
		everything = 0
	}
	w.sched, err = scheduler.New(w.ctx, client, informers, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(profiles...),
		scheduler.WithParallelism(1),
		scheduler.WithPercentageOfNodesToScore(&everything),
		scheduler.WithNodeInfoSnapshot(w.snapshot),
	)
	if err != nil {
		return err
	}
	w.pods = informers.Core().V1().Pods().Informer().GetIndexer()
	w.whole = w.sched.Profiles[v1.DefaultSchedulerName]
	w.alone = map[string]framework.Framework{}
	for _, profile := range profiles[1:] {
		w.alone[profile.SchedulerName] = w.sched.Profiles[profile.SchedulerName]
	}
	if preempts(profiles[0]) {
		return w.prepareToPreempt(profiles[0])
	}
	return nil
}

// prepareToPreempt makes a plugin of our own beside the profile's, which keeps its candidates to itself.
func (w *world) prepareToPreempt(profile config.KubeSchedulerProfile) error {
	for _, plugin := range profile.PluginConfig {
		if plugin.Name == names.DefaultPreemption {
			features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
			var err error
			w.preempts, err = defaultpreemption.New(w.ctx, plugin.Args, w.whole, features)
			return err
		}
	}
	return fmt.Errorf("no arguments for %s", names.DefaultPreemption)
}

func preempts(profile config.KubeSchedulerProfile) bool {
	return slices.ContainsFunc(profile.Plugins.MultiPoint.Enabled, func(plugin config.Plugin) bool {
		return plugin.Name == names.DefaultPreemption
	})
}

// forgetNominations is for profiles in which nobody nominates.
func forgetNominations(pods []*v1.Pod) {
	for _, pod := range pods {
		pod.Status.NominatedNodeName = ""
	}
}

func (w *world) end() {
	if w != nil {
		w.cancel()
		w.sched.SchedulingQueue.Close()
	}
}

// assume counts the pod on the node from now on, for all profiles.
func (w *world) assume(pod *v1.Pod, node string) error {
	for name, profile := range w.alone {
		// Claims of dynamic resources are kept in one place for all profiles.
		if len(profile.ListPlugins().Reserve.Enabled) > 0 && name != names.DynamicResources {
			if err := w.reserve(profile, pod, node); err != nil {
				return err
			}
		}
	}
	if err := w.reserve(w.whole, pod, node); err != nil {
		return err
	}
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	if err := w.pods.Add(assumed); err != nil {
		return err
	}
	return w.sched.Cache.AssumePod(klog.FromContext(w.ctx), assumed)
}

// reserve goes the way from PreFilter to Reserve for one node, because plugins hand on what they found.
func (w *world) reserve(profile framework.Framework, pod *v1.Pod, node string) error {
	state := framework.NewCycleState()
	if _, status, _ := profile.RunPreFilterPlugins(w.ctx, state, pod); !status.IsSuccess() {
		return fmt.Errorf("assume on %s: %w", node, status.AsError())
	}
	info, err := w.snapshot.Get(node)
	if err != nil {
		return err
	}
	if status := profile.RunFilterPlugins(w.ctx, state, pod, info); !status.IsSuccess() {
		return fmt.Errorf("assume on %s: %w", node, status.AsError())
	}
	return profile.RunReservePluginsReserve(w.ctx, state, pod, node).AsError()
}
