// Package admission asks a controller's webhooks about manifests, as an API server would: the controller's own code
// registers them, each manifest goes to them in an AdmissionReview, first to the one that writes, then to the one that judges.
package admission

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Cluster is a manager without a cluster: webhooks are set up with it, and find the objects that Hold was given.
// A part of a manager that is not here, and that no setup asks for, is nil.
type Cluster struct {
	ctrl.Manager
	Default func(*unstructured.Unstructured) // what an API server fills in before it asks, where that matters; may be nil
	scheme  *runtime.Scheme
	mapper  *meta.DefaultRESTMapper
	client  *held
	indexes []index
	hooks   map[string]http.Handler
}

// held is the client that webhooks keep; the one inside changes with the objects.
type held struct{ client.Client }

type index struct {
	object  client.Object
	field   string
	extract client.IndexerFunc
}

// NewCluster has no objects yet. Its kinds are those of the scheme, and more that are only named.
func NewCluster(scheme *runtime.Scheme, more ...schema.GroupVersionKind) *Cluster {
	ctrl.SetLogger(logr.Discard())
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	for _, kind := range more {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	return &Cluster{scheme: scheme, mapper: mapper, client: &held{}, hooks: map[string]http.Handler{}}
}

func (c *Cluster) GetScheme() *runtime.Scheme                   { return c.scheme }
func (c *Cluster) GetRESTMapper() meta.RESTMapper               { return c.mapper }
func (c *Cluster) GetClient() client.Client                     { return c.client }
func (c *Cluster) GetConfig() *rest.Config                      { return &rest.Config{} }
func (c *Cluster) GetFieldIndexer() client.FieldIndexer         { return c }
func (c *Cluster) GetWebhookServer() webhook.Server             { return server{hooks: c.hooks} }
func (c *Cluster) GetEventRecorder(string) events.EventRecorder { return &events.FakeRecorder{} }

// IndexField notes by what a webhook will look for objects.
func (c *Cluster) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	c.indexes = append(c.indexes, index{object, field, extract})
	return nil
}

// server keeps the handlers of webhooks, and serves nothing.
type server struct {
	webhook.Server
	hooks map[string]http.Handler
}

func (s server) Register(path string, hook http.Handler) { s.hooks[path] = hook }
func (s server) WebhookMux() *http.ServeMux              { return nil }

// Hold replaces the objects that webhooks find, by those of them whose kinds the scheme has.
func (c *Cluster) Hold(objects []*unstructured.Unstructured) error {
	builder := fake.NewClientBuilder().WithScheme(c.scheme).WithRESTMapper(c.mapper)
	for _, each := range c.indexes {
		builder = builder.WithIndex(each.object, each.field, each.extract)
	}
	c.client.Client = builder.Build()
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if !c.scheme.Recognizes(kind) {
			continue
		}
		typed, err := c.scheme.New(kind)
		if err != nil {
			return err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
			continue // the webhook's own reading says what is wrong
		}
		if err := c.client.Create(context.Background(), typed.(client.Object)); err != nil {
			return fmt.Errorf("%s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
	return nil
}

// Asked is what the webhooks say of an object that is about to be made: the fields that would not stay as they are
// written, and why it is refused.
func (c *Cluster) Asked(object *unstructured.Unstructured) (changed, refused []string) {
	kind := object.GroupVersionKind()
	end := "-" + strings.ReplaceAll(kind.Group, ".", "-") + "-" + kind.Version + "-" + strings.ToLower(kind.Kind)
	sent := object.DeepCopy()
	if c.Default != nil {
		c.Default(sent)
	}
	raw, err := sent.MarshalJSON()
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, path := range []string{"/mutate" + end, "/validate" + end} {
		hook, ok := c.hooks[path]
		if !ok {
			continue
		}
		answer, err := c.review(hook, object, raw)
		if err != nil {
			return changed, []string{err.Error()}
		}
		if !answer.Allowed {
			return changed, []string{strings.Join(strings.Fields(cmp.Or(answer.Result.Message, string(answer.Result.Reason))), " ")}
		}
		if len(answer.Patch) == 0 {
			continue
		}
		var lines []string
		if raw, lines, err = patched(object, raw, answer.Patch); err != nil {
			return changed, []string{err.Error()}
		}
		changed = append(changed, lines...)
	}
	return changed, nil
}

// review sends one AdmissionReview.
func (c *Cluster) review(hook http.Handler, object *unstructured.Unstructured, raw []byte) (*admissionv1.AdmissionResponse, error) {
	kind, dry := object.GroupVersionKind(), false // some rules are left out of a dry run
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	sent, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID:       "asked",
			Kind:      metav1.GroupVersionKind(kind),
			Resource:  metav1.GroupVersionResource(resource),
			Name:      object.GetName(),
			Namespace: object.GetNamespace(),
			Operation: admissionv1.Create,
			Object:    runtime.RawExtension{Raw: raw},
			DryRun:    &dry,
		},
	})
	if err != nil {
		return nil, err
	}
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(sent))
	request.Header.Set("Content-Type", "application/json")
	reply := httptest.NewRecorder()
	hook.ServeHTTP(reply, request)
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(reply.Body.Bytes(), &review); err != nil {
		return nil, err
	}
	if review.Response == nil {
		return nil, errors.New("the webhook does not answer")
	}
	if review.Response.Result == nil {
		review.Response.Result = &metav1.Status{}
	}
	return review.Response, nil
}

// patched is the object as a webhook wants it, and the operations that touch what the manifest says. Fields beside those are
// no change to whoever compares it with the cluster.
func patched(manifest *unstructured.Unstructured, raw, text []byte) (written []byte, lines []string, err error) {
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, nil, err
	}
	for _, operation := range patch {
		path, err := operation.Path()
		if err != nil {
			return nil, nil, err
		}
		if says(manifest.Object, path) {
			value, _ := json.Marshal(operation["value"])
			lines = append(lines, fmt.Sprintf("%s: %s %s", path, operation.Kind(), value))
		}
	}
	written, err = patch.Apply(raw)
	return written, lines, err
}

// says is whether the manifest has a value at a JSON pointer. A new item of a list is none of the manifest's.
func says(value any, pointer string) bool {
	unescaped := strings.NewReplacer("~1", "/", "~0", "~")
	for _, part := range strings.Split(pointer, "/")[1:] {
		var there bool
		switch within := value.(type) {
		case map[string]any:
			value, there = within[unescaped.Replace(part)]
		case []any:
			index, err := strconv.Atoi(part)
			if there = err == nil && index < len(within); there {
				value = within[index]
			}
		}
		if !there {
			return false
		}
	}
	return true
}
