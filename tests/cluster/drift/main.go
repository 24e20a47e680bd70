// drift asks Argo CD's own diff (gitops-engine) whether the objects of a folder are in sync with a cluster.
//
//	drift FOLDER MODE...
//
// KUBECONFIG says which cluster. Modes, as Argo CD is set up:
//
//	client      its default: three-way diff
//	structured  sync option ServerSideApply=true
//	server      compare option ServerSideDiff=true
//
// A line of JSON for each object and mode: {"mode", "kind", "namespace", "name", "error", "fields": [{"path", "live",
// "git"}]}. No fields and no error: in sync. Exit status 2 when it cannot compare at all.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// manager is the name under which Argo CD applies.
const manager = "argocd-controller"

// field is a place where the cluster has something else than what a sync would leave there.
type field struct {
	Path string `json:"path"`
	Live any    `json:"live"`
	Git  any    `json:"git"`
}

type finding struct {
	Mode      string  `json:"mode"`
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Error     string  `json:"error"`
	Fields    []field `json:"fields"`
}

// withoutStatus is Argo CD's normalisation as installed: nobody's status counts.
type withoutStatus struct{}

func (withoutStatus) Normalize(object *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(object.Object, "status")
	return nil
}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: drift FOLDER MODE..."))
	}
	objects, err := read(os.Args[1])
	fail(err)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	fail(err)
	config.QPS, config.Burst = 200, 400
	cluster, err := connect(config)
	fail(err)

	// what the modes but the default need: the cluster's schemas, and a way to try an apply
	control := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	_, schemas, err := control.LoadOpenAPISchema(config)
	fail(err)
	applier, cleanup, err := control.ManageServerSideDiffDryRuns(config)
	fail(err)
	out := json.NewEncoder(os.Stdout)
	for _, mode := range os.Args[2:] {
		options, err := optionsOf(mode, schemas, applier)
		if err != nil {
			cleanup()
			fail(err)
		}
		for _, object := range objects {
			found := finding{Mode: mode, Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
			if found.Fields, err = cluster.compare(object.DeepCopy(), options); err != nil {
				found.Error = err.Error()
			}
			if err := out.Encode(found); err != nil {
				cleanup()
				fail(err)
			}
		}
	}
	cleanup()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "drift:", err)
		os.Exit(2)
	}
}

func optionsOf(mode string, schemas *managedfields.GvkParser, applier diff.KubeApplier) ([]diff.Option, error) {
	options := []diff.Option{
		diff.WithNormalizer(withoutStatus{}),
		diff.WithManager(manager),
		diff.WithLogr(logr.Discard()),
	}
	switch mode {
	case "client":
		return options, nil
	case "structured":
		return append(options, diff.WithGVKParser(schemas), diff.WithStructuredMergeDiff(true)), nil
	case "server":
		runner := diff.NewK8sServerSideDryRunner(applier)
		return append(options,
			diff.WithGVKParser(schemas), diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(runner)), nil
	}
	return nil, fmt.Errorf("no mode is called %q", mode)
}

// read gives each object of each YAML file, as Argo CD reads a directory.
func read(folder string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := kube.SplitYAML(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		objects = append(objects, found...)
		return nil
	})
	if err == nil && len(objects) == 0 {
		err = fmt.Errorf("%s: no object", folder)
	}
	return objects, err
}

// cluster gets live objects of any kind.
type cluster struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func connect(config *rest.Config) (*cluster, error) {
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &cluster{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

func (c *cluster) live(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	// objects without a namespace are of the whole cluster: our manifests name every other
	return c.client.Resource(mapping.Resource).Namespace(object.GetNamespace()).
		Get(context.Background(), object.GetName(), metav1.GetOptions{})
}

func (c *cluster) compare(git *unstructured.Unstructured, options []diff.Option) ([]field, error) {
	live, err := c.live(git)
	if err != nil {
		return nil, err
	}
	result, err := diff.Diff(git, live, options...)
	if err != nil || !result.Modified {
		return nil, err
	}
	var before, after any
	if err := json.Unmarshal(result.NormalizedLive, &before); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(result.PredictedLive, &after); err != nil {
		return nil, err
	}
	found := differences("", before, after)
	if len(found) == 0 {
		found = []field{{Path: "(bytes)"}}
	}
	return found, nil
}

// differences lists the leaves that differ. Items of a list go by their name where they have one.
func differences(path string, live, git any) []field {
	if reflect.DeepEqual(live, git) {
		return nil
	}
	var found []field
	switch live := live.(type) {
	case map[string]any:
		git, ok := git.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Collect(maps.Keys(live))
		for key := range git {
			if _, known := live[key]; !known {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			found = append(found, differences(strings.TrimPrefix(path+"."+key, "."), live[key], git[key])...)
		}
		return found
	case []any:
		git, ok := git.([]any)
		if !ok || len(git) != len(live) {
			break
		}
		for index := range live {
			label := strconv.Itoa(index)
			if item, ok := live[index].(map[string]any); ok && item["name"] != nil {
				label = fmt.Sprint(item["name"])
			}
			found = append(found, differences(path+"["+label+"]", live[index], git[index])...)
		}
		return found
	}
	return []field{{path, live, git}}
}
