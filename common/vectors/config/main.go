// Prints the golden vectors of the scheduler's configuration: one line of JSON for each text, with what kube-scheduler
// makes of it: the configuration with its defaults, the plugins that each profile runs at each extension point, or the
// error and the fields that it is about.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"

	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

type vector struct {
	Name          string               `json:"name"`
	Text          string               `json:"text"`
	Configuration json.RawMessage      `json:"configuration,omitempty"`
	Effective     map[string]pointList `json:"effective,omitempty"`
	Error         string               `json:"error,omitempty"`
	Fields        []string             `json:"fields,omitempty"`
}

// pointList holds the plugins of one profile by extension point, as `name` or `name=weight`.
type pointList map[string][]string

func main() {
	klog.SetLogger(klog.Logger{})
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	print := func(result vector) {
		if err := encoder.Encode(result); err != nil {
			panic(err)
		}
	}
	for _, named := range chosen() {
		print(judge(named))
	}
	for _, named := range random() {
		result := judge(named)
		// The mixes are about plugins; the rest of them is always the same.
		result.Configuration = nil
		print(result)
	}
}

func judge(named sample) vector {
	result := vector{Name: named.name, Text: named.text}
	loaded, err := load([]byte(named.text))
	if err == nil {
		result.Effective, err = build(loaded)
	}
	if err != nil {
		result.Error = err.Error()
		result.Fields = fieldsOf(err)
		return result
	}
	result.Configuration = encode(loaded)
	return result
}

// load does what kube-scheduler does with the file that --config names.
func load(data []byte) (*config.KubeSchedulerConfiguration, error) {
	object, gvk, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	loaded, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, errors.New("not a KubeSchedulerConfiguration but " + gvk.String())
	}
	loaded.TypeMeta.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(loaded); err != nil {
		return nil, err
	}
	return loaded, nil
}

// build makes the scheduler, which fails where the plugins do not fit together, and lists what it would run. The client
// is never used: nothing is started.
func build(loaded *config.KubeSchedulerConfiguration) (map[string]pointList, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"})
	recorders := func(string) events.EventRecorderLogger { return events.NewFakeRecorder(1) }
	built, err := scheduler.New(ctx, client, scheduler.NewInformerFactory(client, 0, nil), nil, recorders,
		scheduler.WithProfiles(loaded.Profiles...),
		scheduler.WithExtenders(loaded.Extenders...),
		scheduler.WithParallelism(loaded.Parallelism),
		scheduler.WithPercentageOfNodesToScore(loaded.PercentageOfNodesToScore),
	)
	if err != nil {
		return nil, err
	}
	effective := map[string]pointList{}
	for name, profile := range built.Profiles {
		effective[name] = points(profile.ListPlugins())
	}
	return effective, nil
}

func points(plugins *config.Plugins) pointList {
	result := pointList{}
	value := reflect.ValueOf(*plugins)
	for i := range value.NumField() {
		set := value.Field(i).Interface().(config.PluginSet)
		for _, enabled := range set.Enabled {
			name := []byte(value.Type().Field(i).Name)
			name[0] += 'a' - 'A'
			shown := enabled.Name
			if enabled.Weight != 0 {
				shown = fmt.Sprint(shown, "=", enabled.Weight)
			}
			result[string(name)] = append(result[string(name)], shown)
		}
	}
	return result
}

// encode returns the configuration without its plugins, which are in Effective.
func encode(loaded *config.KubeSchedulerConfiguration) json.RawMessage {
	for i := range loaded.Profiles {
		loaded.Profiles[i].Plugins = nil
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		panic("no JSON")
	}
	raw, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion), loaded)
	if err != nil {
		panic(err)
	}
	return raw
}

// fieldsOf collects the fields that a validation error is about, each once, sorted.
func fieldsOf(err error) []string {
	seen := map[string]bool{}
	var visit func(error)
	visit = func(err error) {
		var aggregate utilerrors.Aggregate
		var single *field.Error
		switch {
		case errors.As(err, &aggregate):
			for _, inner := range aggregate.Errors() {
				visit(inner)
			}
		case errors.As(err, &single):
			seen[single.Field] = true
		}
	}
	visit(err)
	var fields []string
	for name := range seen {
		fields = append(fields, name)
	}
	sort.Strings(fields)
	return fields
}
