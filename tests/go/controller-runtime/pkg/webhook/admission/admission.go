// Package admission has the interfaces that a webhook implements.
package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
)

// Warnings go to the user.
type Warnings []string

// Defaulter is a mutating webhook.
type Defaulter[T runtime.Object] interface {
	Default(ctx context.Context, object T) error
}

// Validator is a validating webhook.
type Validator[T runtime.Object] interface {
	ValidateCreate(ctx context.Context, object T) (Warnings, error)
	ValidateUpdate(ctx context.Context, before, after T) (Warnings, error)
	ValidateDelete(ctx context.Context, object T) (Warnings, error)
}
