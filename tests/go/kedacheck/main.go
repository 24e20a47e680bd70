// Command kedacheck says whether KEDA's webhook would let ScaledObjects into a cluster, by its own code:
//
//	kedacheck FILE|FOLDER...
//
// What of a cluster the webhook looks at, other ScaledObjects, HorizontalPodAutoscalers, the workload that is scaled, are
// the objects beside the one that is asked about. What comes out, and which objects these are: ../admission/program.go.
package main

import (
	"fmt"
	"os"

	kedav1alpha1 "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetes "k8s.io/client-go/kubernetes/scheme"

	"admission"
)

func main() {
	scheme := runtime.NewScheme()
	workload := schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, kedav1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			fail(err)
		}
	}
	cluster := admission.NewCluster(scheme, workload)
	if err := (&kedav1alpha1.ScaledObject{}).SetupWebhookWithManager(cluster, false); err != nil {
		fail(err)
	}
	admission.Main("kedacheck", cluster, func(object *unstructured.Unstructured) bool {
		return object.GroupVersionKind() == kedav1alpha1.SchemeGroupVersion.WithKind("ScaledObject")
	})
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "kedacheck: %v\n", err)
	os.Exit(2)
}
