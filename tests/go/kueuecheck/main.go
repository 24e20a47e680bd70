// Command kueuecheck says what Kueue's webhooks would make of workloads with a queue, by their own code: LeaderWorkerSets,
// Deployments and Jobs whose label names one.
//
//	kueuecheck FILE|FOLDER...
//
// The cluster has no queues yet, which is no fault to a webhook. What comes out: ../admission/program.go.
package main

import (
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/controller/jobs/deployment"
	"sigs.k8s.io/kueue/pkg/controller/jobs/job"
	"sigs.k8s.io/kueue/pkg/controller/jobs/leaderworkerset"
	lwsv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"admission"
)

var kinds = map[schema.GroupVersionKind]func(ctrl.Manager, ...jobframework.Option) error{
	appsv1.SchemeGroupVersion.WithKind("Deployment"):     deployment.SetupWebhook,
	batchv1.SchemeGroupVersion.WithKind("Job"):           job.SetupWebhook,
	lwsv1.SchemeGroupVersion.WithKind("LeaderWorkerSet"): leaderworkerset.SetupWebhook,
}

// defaulted has what the webhook of Jobs takes for granted.
func defaulted(object *unstructured.Unstructured) {
	spec, ok := object.Object["spec"].(map[string]any)
	if !ok || object.GetKind() != "Job" {
		return
	}
	for field, value := range map[string]any{"parallelism": int64(1), "completions": int64(1), "suspend": false} {
		if _, set := spec[field]; !set {
			spec[field] = value
		}
	}
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, kueue.AddToScheme, lwsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			fail(err)
		}
	}
	cluster := admission.NewCluster(scheme)
	for _, setup := range kinds {
		if err := setup(cluster, jobframework.WithQueues(&queue.Manager{})); err != nil {
			fail(err)
		}
	}
	cluster.Default = defaulted
	admission.Main("kueuecheck", cluster, func(object *unstructured.Unstructured) bool {
		_, queued := object.GetLabels()[constants.QueueLabel]
		_, asked := kinds[object.GroupVersionKind()]
		return asked && queued
	})
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "kueuecheck: %v\n", err)
	os.Exit(2)
}
