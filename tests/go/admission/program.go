package admission

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	documents "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// finding is one line of output.
type finding struct {
	File    string   `json:"file"`
	Index   int      `json:"index"`
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	Changed []string `json:"changed"`
	Errors  []string `json:"errors"`
}

type manifest struct {
	finding
	object *unstructured.Unstructured
}

// Main is a program that asks about files: each one named is a cluster for itself, those of one folder are one cluster. It
// prints a line of JSON about each object that relevant picks, and ends the process:
//
//	{"file": "a.yaml", "index": 0, "kind": "ScaledObject", "name": "llm/chat", "changed": [...], "errors": [...]}
//
// index counts the documents of the file from 0, without empty ones. Exit status: 0 all accepted and unchanged, 1 something
// changed or refused, 2 could not check.
func Main(name string, cluster *Cluster, relevant func(*unstructured.Unstructured) bool) {
	status, err := run(cluster, relevant, os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		status = 2
	}
	os.Exit(status)
}

func run(cluster *Cluster, relevant func(*unstructured.Unstructured) bool, arguments []string) (int, error) {
	if len(arguments) == 0 {
		return 0, errors.New("name files or folders")
	}
	groups, err := grouped(arguments)
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	status := 0
	for _, files := range groups {
		found, err := read(files)
		if err != nil {
			return 0, err
		}
		objects := make([]*unstructured.Unstructured, len(found))
		for number, each := range found {
			objects[number] = each.object
		}
		if err := cluster.Hold(objects); err != nil {
			return 0, fmt.Errorf("%s: %w", files[0], err)
		}
		for _, each := range found {
			if !relevant(each.object) {
				continue
			}
			changed, refused := cluster.Asked(each.object)
			each.Changed, each.Errors = append(each.Changed, changed...), append(each.Errors, refused...)
			if len(each.Changed)+len(each.Errors) > 0 {
				status = 1
			}
			if err := lines.Encode(each.finding); err != nil {
				return 0, err
			}
		}
	}
	return status, out.Flush()
}

// grouped is the files of each cluster.
func grouped(arguments []string) ([][]string, error) {
	var groups [][]string
	for _, root := range arguments {
		folders := map[string]int{}
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || (path != root && filepath.Ext(path) != ".yaml") {
				return err
			}
			folder := filepath.Dir(path)
			number, known := folders[folder]
			if !known {
				number = len(groups)
				folders[folder], groups = number, append(groups, nil)
			}
			groups[number] = append(groups[number], path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// read is every object of the files.
func read(files []string) ([]manifest, error) {
	var found []manifest
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		split := documents.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for index := 0; ; {
			document, err := split.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			var object map[string]any
			if err == nil {
				err = yaml.Unmarshal(document, &object)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if object == nil {
				continue
			}
			made := &unstructured.Unstructured{Object: numbers(object)}
			named := finding{file, index, made.GetKind(), made.GetNamespace() + "/" + made.GetName(), []string{}, []string{}}
			found = append(found, manifest{named, made})
			index++
		}
	}
	return found, nil
}

// numbers is the object with whole numbers as an unstructured object holds them.
func numbers(object map[string]any) map[string]any {
	for key, value := range object {
		object[key] = number(value)
	}
	return object
}

func number(value any) any {
	switch value := value.(type) {
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	case map[string]any:
		return numbers(value)
	case []any:
		for index, item := range value {
			value[index] = number(item)
		}
	}
	return value
}
