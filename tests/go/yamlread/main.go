// Command yamlread prints each YAML document of its files, or of standard input, as one line of JSON: what kubectl,
// Helm, Argo CD and Flux take from it, since all of them read YAML with these two libraries. Documents that are empty
// or null are left out, as kubectl does. A document that cannot be read (a key given twice included) gives a line
// {"error": "..."} in its place, and exit status 1.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	documents "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	fine := true
	for _, name := range os.Args[1:] {
		if file, err := os.Open(name); err != nil {
			fine = refuse(out, err)
		} else {
			fine = read(file, out) && fine
		}
	}
	if len(os.Args) == 1 {
		fine = read(os.Stdin, out)
	}
	if err := out.Flush(); err != nil || !fine {
		os.Exit(1)
	}
}

// read prints the documents of one file; false: at least one could not be read.
func read(file io.Reader, out *bufio.Writer) bool {
	fine := true
	split := documents.NewYAMLReader(bufio.NewReader(file))
	for {
		text, err := split.Read()
		if errors.Is(err, io.EOF) {
			return fine
		}
		if err != nil { // the rest of the file cannot be split
			return refuse(out, err)
		}
		value, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			fine = refuse(out, err)
		} else if value = bytes.TrimSpace(value); !bytes.Equal(value, []byte("null")) {
			out.Write(append(value, '\n'))
		}
	}
}

// refuse prints what is wrong in the document's place, and is always false.
func refuse(out *bufio.Writer, err error) bool {
	line, _ := json.Marshal(map[string]string{"error": err.Error()})
	out.Write(append(line, '\n'))
	return false
}
