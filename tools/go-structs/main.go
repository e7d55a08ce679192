// Prints, as JSON, how the Go structs of the Kubernetes API are written: what OpenAPI does not tell.
//
// For every struct that an object of a built-in kind can hold (stable versions, and what API machinery itself sends), its fields in order:
// name in JSON, number in protobuf (0: none), flags ("o" omitempty, "z" omitzero, "i" inline), Go type, and name in Go. And for every named
// type that is no struct, what it is made of. Structs are named as in OpenAPI; a type is such a name or a basic one, behind "*", "[]" or "map[string]".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	autoscaling "k8s.io/api/autoscaling/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// kind is a kind of a group and version, with the name of its struct.
type kind struct{ Group, Version, Kind, Struct string }

type output struct {
	Kinds   []kind             `json:"kinds"`
	Structs map[string][][]any `json:"structs"`
	Named   map[string]string  `json:"named"`
}

var stable = regexp.MustCompile(`^v\d+$`)

func main() {
	utilruntime.Must(apiextensions.AddToScheme(scheme.Scheme))
	utilruntime.Must(apiregistration.AddToScheme(scheme.Scheme))
	found := output{Structs: map[string][][]any{}, Named: map[string]string{}}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if (stable.MatchString(gvk.Version) && gvk.Group != "internal.apiserver.k8s.io") || gvk.Group == "meta.k8s.io" {
			found.Kinds = append(found.Kinds, kind{gvk.Group, gvk.Version, gvk.Kind, found.name(t)})
		}
	}
	// Those that autoscaling/v1 writes into annotations.
	found.name(reflect.TypeFor[autoscaling.MetricSpec]())
	found.name(reflect.TypeFor[autoscaling.MetricStatus]())
	found.name(reflect.TypeFor[autoscaling.HorizontalPodAutoscalerCondition]())
	found.name(reflect.TypeFor[runtime.Unknown]())
	found.name(reflect.TypeFor[metav1.Status]())
	sortKinds(found.Kinds)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	utilruntime.Must(encoder.Encode(found))
}

func sortKinds(kinds []kind) {
	key := func(k kind) string { return k.Group + "/" + k.Version + "/" + k.Kind }
	for i := range kinds {
		for j := i; j > 0 && key(kinds[j]) < key(kinds[j-1]); j-- {
			kinds[j], kinds[j-1] = kinds[j-1], kinds[j]
		}
	}
}

// name is how a type is written, once everything that it leads to is known.
func (o output) name(t reflect.Type) string {
	switch {
	case t.Name() != "" && t.PkgPath() != "":
		name := openAPI(t.PkgPath()) + "." + t.Name()
		if t.Kind() == reflect.Struct {
			o.add(name, t)
		} else if _, known := o.Named[name]; !known {
			o.Named[name] = ""
			o.Named[name] = o.under(t)
		}
		return name
	default:
		return o.under(t)
	}
}

func (o output) under(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + o.name(t.Elem())
	case reflect.Slice:
		return "[]" + o.name(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic(t.String())
		}
		return "map[string]" + o.name(t.Elem())
	case reflect.Interface:
		return "any"
	default:
		return t.Kind().String()
	}
}

// openAPI turns k8s.io/api/core/v1 into io.k8s.api.core.v1.
func openAPI(path string) string {
	host, rest, _ := strings.Cut(path, "/")
	parts := strings.Split(host, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	if rest == "" {
		return host // of the standard library
	}
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".")
}

func (o output) add(name string, t reflect.Type) {
	if _, known := o.Structs[name]; known || strings.HasPrefix(name, "time.") || strings.HasPrefix(name, "gopkg") {
		return
	}
	o.Structs[name] = [][]any{}
	fields := [][]any{}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.PkgPath != "" && !field.Anonymous {
			continue
		}
		tag := strings.Split(field.Tag.Get("json"), ",")
		flags := ""
		for _, option := range tag[1:] {
			switch option {
			case "omitempty":
				flags += "o"
			case "omitzero":
				flags += "z"
			case "inline":
				flags += "i"
			case "":
			default:
				panic(fmt.Sprintf("%s.%s: %s", name, field.Name, option))
			}
		}
		if tag[0] == "" && field.Anonymous && !strings.Contains(flags, "i") {
			flags += "i"
		}
		// A type that protobuf knows and JSON does not keeps its Go name, in brackets.
		called := tag[0]
		if called == "" && !strings.Contains(flags, "i") || called == "-" {
			called = "(" + field.Name + ")"
		}
		// What Go calls a field is said where it is not what JSON calls it, with a capital.
		goName := field.Name
		if called != "" && goName == strings.ToUpper(called[:1])+called[1:] {
			goName = ""
		}
		fields = append(fields, []any{called, number(field), flags, o.name(field.Type), goName})
	}
	o.Structs[name] = fields
}

// number is the field's number in protobuf. The wire type in its tag is not looked at: some tags have it wrong, and the Go type tells.
func number(field reflect.StructField) int {
	tag := field.Tag.Get("protobuf")
	if tag == "" || tag == "-" {
		return 0
	}
	found, err := strconv.Atoi(strings.Split(tag, ",")[1])
	utilruntime.Must(err)
	return found
}
