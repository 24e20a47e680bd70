// Package client stands in for a Kubernetes client.
package client

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Client would read and write a cluster.
type Client interface {
	Get(context.Context, types.NamespacedName, runtime.Object) error
	Create(context.Context, runtime.Object) error
	Scheme() *runtime.Scheme
}

// IgnoreNotFound panics.
func IgnoreNotFound(error) error { panic("stand-in") }
