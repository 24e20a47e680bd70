// Command lwscheck says what a cluster with the LeaderWorkerSet controller would make of manifests, without one: the
// API server's part (strict reading, defaults and schema of the CRD) and the webhook's part, each by its own code. Of a
// DisaggregatedSet also what the webhook says of each LeaderWorkerSet that the controller would make of its roles.
//
//	lwscheck FILE|FOLDER...      (a folder: every *.yaml below it)
//
// Prints one line of JSON for each LeaderWorkerSet and DisaggregatedSet (documents of other kinds are left alone), and
// one for each document that cannot be read:
//
//	{"file": "a.yaml", "index": 0, "name": "llm/chat", "changed": [...], "defaulted": [...], "errors": [...]}
//
// index counts the documents of the file from 0, without empty ones. changed lists what would stand in the cluster
// otherwise than written: each field that the webhook sets or rewrites, a quantity in another spelling, a null that is
// dropped or replaced. defaulted lists the fields that the manifest leaves to defaults of the CRD, which is no change.
// errors lists why the manifest is refused; each begins with who refuses it: "yaml: ", "schema: ", "webhook: ", or
// "webhook of role NAME: " for the LeaderWorkerSet of a role.
//
// Exit status: 0 all accepted and unchanged, 1 something changed or refused, 2 could not check.
package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	documents "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	disaggv1 "sigs.k8s.io/lws/api/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"
	disaggutils "sigs.k8s.io/lws/pkg/utils/disaggregatedset"
	"sigs.k8s.io/lws/pkg/webhooks"
	disaggwebhooks "sigs.k8s.io/lws/pkg/webhooks/disaggregatedset"
	"sigs.k8s.io/yaml"
)

//go:embed crd
var crd embed.FS

// finding is one line of output.
type finding struct {
	File      string   `json:"file"`
	Index     int      `json:"index"`
	Name      string   `json:"name"`
	Changed   []string `json:"changed"`
	Defaulted []string `json:"defaulted"`
	Errors    []string `json:"errors"`
}

func main() {
	judge, err := newJudge()
	if err != nil {
		fail(err)
	}
	files, err := named(os.Args[1:])
	if err != nil {
		fail(err)
	}
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	status := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			fail(err)
		}
		for _, found := range judge.file(file, text) {
			if len(found.Changed)+len(found.Errors) > 0 {
				status = 1
			}
			if err := lines.Encode(found); err != nil {
				fail(err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		fail(err)
	}
	os.Exit(status)
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "lwscheck: %v\n", err)
	os.Exit(2)
}

// named is the files that the arguments stand for, those of a folder in the order of their names.
func named(arguments []string) ([]string, error) {
	if len(arguments) == 0 {
		return nil, errors.New("usage: lwscheck FILE|FOLDER...")
	}
	var files []string
	for _, root := range arguments {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (path == root || filepath.Ext(path) == ".yaml") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// kind is what the API server keeps for a CRD.
type kind struct {
	version    string
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil where it has none
}

// judge holds the kinds and their webhooks.
type judge struct {
	kinds        map[string]*kind
	webhook      webhooks.LeaderWorkerSetWebhook
	disaggregate disaggwebhooks.DisaggregatedSetWebhook
}

func newJudge() (*judge, error) {
	kinds := map[string]*kind{}
	var err error
	if kinds["LeaderWorkerSet"], err = newKind("crd/lws.yaml", lwsv1.GroupVersion); err != nil {
		return nil, err
	}
	kinds["DisaggregatedSet"], err = newKind("crd/disaggregatedset.yaml", disaggv1.GroupVersion)
	return &judge{kinds: kinds}, err
}

func newKind(file string, served runtimeschema.GroupVersion) (*kind, error) {
	text, err := crd.ReadFile(file)
	if err != nil {
		return nil, errors.New("built without the CRD: build it with `scripts/tools.sh lwscheck`")
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, err
	}
	for _, version := range definition.Spec.Versions {
		if version.Name != served.Version {
			continue
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return nil, err
		}
		structural, err := schema.NewStructural(&props)
		if err != nil {
			return nil, err
		}
		validator, _, err := validation.NewSchemaValidator(&props)
		rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
		return &kind{version: served.String(), structural: structural, validator: validator, rules: rules}, err
	}
	return nil, fmt.Errorf("%s has no version %s", file, served.Version)
}

// file is the findings about one file's text.
func (j *judge) file(name string, text []byte) []*finding {
	var findings []*finding
	split := documents.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for index := 0; ; {
		document, err := split.Read()
		if errors.Is(err, io.EOF) {
			return findings
		}
		found := &finding{File: name, Index: index, Changed: []string{}, Defaulted: []string{}, Errors: []string{}}
		if err != nil { // the rest of the file cannot be split
			found.refuse("yaml", err)
			return append(findings, found)
		}
		relevant, empty := j.document(document, found)
		if relevant {
			findings = append(findings, found)
		}
		if !empty {
			index++
		}
	}
}

// document completes the finding about one document.
func (j *judge) document(text []byte, found *finding) (relevant, empty bool) {
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		found.refuse("yaml", err)
		return true, false
	}
	var value any
	if err := utiljson.Unmarshal(raw, &value); err != nil || value == nil {
		return false, value == nil
	}
	manifest, _ := value.(map[string]any)
	named, _ := manifest["kind"].(string)
	judged, known := j.kinds[named]
	if !known {
		return false, false
	}
	metadata, _ := manifest["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	found.Name = namespace + "/" + name
	if manifest["apiVersion"] != judged.version {
		found.refuse("schema", fmt.Errorf("apiVersion: %v is not served, only %s is", manifest["apiVersion"], judged.version))
		return true, false
	}
	if named == "DisaggregatedSet" {
		j.disaggregated(text, manifest, found)
	} else {
		j.lws(text, manifest, found)
	}
	return true, false
}

// disaggregated follows one DisaggregatedSet through a create request, and then the LeaderWorkerSets that its controller
// creates.
func (j *judge) disaggregated(text []byte, manifest map[string]any, found *finding) {
	judged := j.kinds["DisaggregatedSet"]
	var strict disaggv1.DisaggregatedSet
	if err := yaml.UnmarshalStrict(text, &strict); err != nil {
		found.refuse("yaml", err)
	}
	object := judged.defaulted(manifest, found)
	changes := map[string]string{}
	compare(nil, manifest, object, func(path []any, before, after any) {
		if _, added := before.(nothing); !added {
			note(changes, path, before, after)
		}
	})
	found.Changed = sorted(changes) // no webhook writes to it
	found.schema(judged, object)

	raw, err := json.Marshal(object)
	if err != nil {
		found.refuse("yaml", err)
		return
	}
	var set disaggv1.DisaggregatedSet
	if err := utiljson.Unmarshal(raw, &set); err != nil {
		found.refuse("webhook", err) // its decoder, before any of its rules
		return
	}
	found.webhookErrors("webhook", guarded(func() error {
		_, err := j.disaggregate.ValidateCreate(context.Background(), &set)
		return err
	}))
	revision := disaggutils.ComputeRevision(set.Spec.Roles)
	for _, role := range set.Spec.Roles {
		lws := &lwsv1.LeaderWorkerSet{Spec: *role.Spec.DeepCopy()}
		lws.Labels, lws.Annotations = role.Labels, role.Annotations
		lws.Name, lws.Namespace = disaggutils.GenerateName(set.Name, role.Name, revision), set.Namespace
		found.webhookErrors("webhook of role "+role.Name, guarded(func() error {
			if err := j.webhook.Default(context.Background(), lws); err != nil {
				return err
			}
			_, err := j.webhook.ValidateCreate(context.Background(), lws)
			return err
		}))
	}
}

// defaulted is a manifest as the API server reads it, with the defaults of the CRD. What it does not know is refused.
func (k *kind) defaulted(manifest map[string]any, found *finding) map[string]any {
	object := runtime.DeepCopyJSON(manifest)
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(object, k.structural, true, options) {
		found.refuse("yaml", fmt.Errorf("unknown field %q", path))
	}
	defaulting.Default(object, k.structural)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structural)
	defaults := map[string]string{}
	compare(nil, manifest, object, func(path []any, before, after any) {
		if _, added := before.(nothing); added {
			note(defaults, path, before, after)
		}
	})
	found.Defaulted = sorted(defaults)
	return object
}

// lws follows one LeaderWorkerSet through a create request: reading, defaults, mutating webhook, schema, validating webhook.
func (j *judge) lws(text []byte, manifest map[string]any, found *finding) {
	var strict lwsv1.LeaderWorkerSet
	if err := yaml.UnmarshalStrict(text, &strict); err != nil {
		found.refuse("yaml", err)
	}
	judged := j.kinds["LeaderWorkerSet"]
	object := judged.defaulted(manifest, found)

	raw, err := json.Marshal(object)
	if err != nil {
		found.refuse("yaml", err)
		return
	}
	var lws lwsv1.LeaderWorkerSet
	if err := utiljson.Unmarshal(raw, &lws); err != nil {
		found.refuse("webhook", err) // its decoder, before any of its rules
		found.schema(judged, object)
		return
	}
	read := generic(&lws)
	if err := guarded(func() error { return j.webhook.Default(context.Background(), &lws) }); err != nil {
		found.refuse("webhook", err)
		return
	}
	written := generic(&lws)

	changes := map[string]string{}
	compare(nil, read, written, func(path []any, before, after any) {
		note(changes, path, before, after)
		set(object, path, after)
	})
	// What a Go type adds or leaves out because it is empty is not brought to the cluster, or means the same there.
	compare(nil, object, written, func(path []any, before, after any) {
		if _, added := before.(nothing); added && !empty(after) || !added && !dropped(before, after) {
			note(changes, path, before, after)
		}
	})
	compare(nil, manifest, written, func(path []any, before, after any) {
		if _, added := before.(nothing); !added && !dropped(before, after) {
			note(changes, path, before, after)
		}
	})
	found.Changed = sorted(changes)

	found.schema(judged, object)
	found.webhookErrors("webhook", guarded(func() error {
		_, err := j.webhook.ValidateCreate(context.Background(), &lws)
		return err
	}))
}

// schema adds what the CRD's schema refuses, and its CEL rules, which the API server asks once all else has held.
func (f *finding) schema(k *kind, object map[string]any) {
	before := len(f.Errors)
	for _, err := range validation.ValidateCustomResource(nil, object, k.validator) {
		f.refuse("schema", err)
	}
	for _, err := range listtype.ValidateListSetsAndMaps(nil, k.structural, object) {
		f.refuse("schema", err)
	}
	if k.rules != nil && len(f.Errors) == before {
		broken, _ := k.rules.Validate(context.Background(), nil, k.structural, object, nil, celconfig.RuntimeCELCostBudget)
		for _, err := range broken {
			f.refuse("schema", err)
		}
	}
}

// webhookErrors adds each of the errors that err holds together.
func (f *finding) webhookErrors(who string, err error) {
	var many utilerrors.Aggregate
	if errors.As(err, &many) {
		for _, one := range many.Errors() {
			f.refuse(who, one)
		}
	} else if err != nil {
		f.refuse(who, err)
	}
}

func (f *finding) refuse(who string, err error) {
	f.Errors = append(f.Errors, who+": "+strings.Join(strings.Fields(err.Error()), " "))
}

// guarded calls a part of the webhook; a panic, which the webhook's server answers with a refusal, becomes an error.
func guarded(call func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return call()
}

// nothing stands for the value of a field that is not there.
type nothing struct{}

// generic is the object as the webhook writes it.
func generic(lws *lwsv1.LeaderWorkerSet) map[string]any {
	raw, err := json.Marshal(lws)
	var object map[string]any
	if err = errors.Join(err, utiljson.Unmarshal(raw, &object)); err != nil {
		fail(err)
	}
	return object
}

// compare calls differs for each field whose values differ, at the outermost level where one of the two has none.
func compare(path []any, before, after any, differs func(path []any, before, after any)) {
	switch old := before.(type) {
	case map[string]any:
		if now, ok := after.(map[string]any); ok {
			for key, value := range old {
				compare(child(path, key), value, member(now, key), differs)
			}
			for key, value := range now {
				if _, both := old[key]; !both {
					differs(child(path, key), nothing{}, value)
				}
			}
			return
		}
	case []any:
		if now, ok := after.([]any); ok && len(now) == len(old) {
			for index := range old {
				compare(child(path, index), old[index], now[index], differs)
			}
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		differs(path, before, after)
	}
}

func child(path []any, part any) []any {
	return append(slices.Clone(path), part)
}

func member(object map[string]any, key string) any {
	if value, ok := object[key]; ok {
		return value
	}
	return nothing{}
}

// dropped: left out for being empty. A null is not: a manifest that says it never equals the cluster.
func dropped(before, after any) bool {
	_, absent := after.(nothing)
	return absent && before != nil
}

// empty: null, or a map that holds nothing else.
func empty(value any) bool {
	object, is := value.(map[string]any)
	for _, field := range object {
		is = is && empty(field)
	}
	return is || value == nil
}

// sorted is the changes in the order of their paths.
func sorted(changes map[string]string) []string {
	lines := []string{}
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		lines = append(lines, path+": "+changes[path])
	}
	return lines
}

// set writes a field that the webhook wrote, and the maps that lead to it; the webhook writes to no list.
func set(object map[string]any, path []any, value any) {
	last := len(path) - 1
	for _, part := range path[:last] {
		below, ok := object[part.(string)].(map[string]any)
		if !ok {
			below = map[string]any{}
			object[part.(string)] = below
		}
		object = below
	}
	object[path[last].(string)] = value
}

// note keeps how a field changed, in words; the first word about a field counts.
func note(changes map[string]string, path []any, before, after any) {
	var name strings.Builder
	for _, part := range path {
		switch part := part.(type) {
		case int:
			fmt.Fprintf(&name, "[%d]", part)
		case string:
			if strings.ContainsAny(part, "./") {
				fmt.Fprintf(&name, "[%s]", part)
			} else if name.Len() > 0 {
				name.WriteString("." + part)
			} else {
				name.WriteString(part)
			}
		}
	}
	if _, known := changes[name.String()]; !known {
		changes[name.String()] = shown(before) + " becomes " + shown(after)
	}
}

func shown(value any) string {
	if _, absent := value.(nothing); absent {
		return "nothing"
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(raw)
}
