// Package controllerruntime stands in for the module of this name, of which the LeaderWorkerSet webhook needs some types
// to compile and nothing to run. go.mod replaces the module with this one, so that lwscheck is built without a whole
// Kubernetes client: half the packages, half the time. What is called here by mistake panics.
package controllerruntime

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Manager would run webhooks.
type Manager any

// Builder would register webhooks with a Manager.
type Builder[T runtime.Object] struct{}

// NewWebhookManagedBy panics.
func NewWebhookManagedBy[T runtime.Object](Manager, T) *Builder[T] { panic("stand-in") }

// WithDefaulter panics.
func (*Builder[T]) WithDefaulter(admission.Defaulter[T]) *Builder[T] { panic("stand-in") }

// WithValidator panics.
func (*Builder[T]) WithValidator(admission.Validator[T]) *Builder[T] { panic("stand-in") }

// Complete panics.
func (*Builder[T]) Complete() error { panic("stand-in") }

// LoggerFrom panics.
func LoggerFrom(context.Context) logr.Logger { panic("stand-in") }

// SetControllerReference panics.
func SetControllerReference(v1.Object, v1.Object, *runtime.Scheme) error { panic("stand-in") }
