package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// costLimit bounds one evaluation: a flow file is data, it must not be able to occupy a worker.
const costLimit = 1_000_000

// expression is a compiled CEL expression and where it stands.
type expression struct {
	program cel.Program
	source  string
	line    int
	facts   []string // Facts that it reads, sorted.
	boolean bool     // It may give true or false.
	list    bool     // It may give a list.
}

// environments are the language of flow files: CEL with optional values, string functions, and exact decimals; once
// without and once with the variable output. They are made once and are immutable.
func environments() (without, with *cel.Env, err error) {
	pair, err := environmentPair()
	return pair[0], pair[1], err
}

var environmentPair = sync.OnceValues(func() (pair [2]*cel.Env, err error) {
	object := cel.MapType(cel.StringType, cel.DynType)
	pair[0], err = cel.NewEnv(
		cel.OptionalTypes(),
		ext.Strings(),
		cel.Variable("facts", object),
		cel.Variable("materials", cel.ListType(object)),
		cel.Variable("uploads", cel.ListType(object)),
		cel.Variable("user", object),
		cel.Variable("message", object),
		cel.Variable("prefs", object),
		cel.Function(
			"sum",
			cel.Overload("sum_list", []*cel.Type{cel.ListType(cel.DynType)}, cel.StringType, cel.UnaryBinding(sum)),
		),
		cel.Function(
			"cmp",
			cel.Overload("cmp_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.IntType, cel.BinaryBinding(compare)),
		),
	)
	if err == nil {
		pair[1], err = pair[0].Extend(cel.Variable("output", cel.DynType))
	}
	return pair, err
})

// variables are what expressions may name, for suggestions.
var variables = []string{
	"facts", "materials", "message", "output", "prefs", "uploads", "user", "sum", "cmp", "size", "has",
}

// compile compiles source; line is for messages at evaluation. issues is not nil when the source is wrong.
func compile(env *cel.Env, source string, line int) (e *expression, issues *cel.Issues, err error) {
	checked, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, issues, nil //nolint:nilerr // The issues are the answer; err is for an environment that is wrong.
	}
	program, err := env.Program(checked, cel.CostLimit(costLimit), cel.InterruptCheckFrequency(1000))
	if err != nil {
		return nil, nil, err
	}
	facts := factsIn(checked.NativeRep().Expr())
	slices.Sort(facts)
	return &expression{
		program: program,
		source:  source,
		line:    line,
		facts:   slices.Compact(facts),
		boolean: mayBe(checked.OutputType(), cel.BoolType),
		list:    mayBe(checked.OutputType(), cel.ListType(cel.DynType)),
	}, nil, nil
}

// mayBe reports whether a value of type t can be used where want is wanted; what is not known until evaluation may be.
func mayBe(t, want *cel.Type) bool {
	return t.Kind() == want.Kind() || t.Kind() == types.DynKind || t.Kind() == types.TypeParamKind ||
		t.Kind() == types.OpaqueKind
}

// factsIn finds the facts that an expression reads: facts.x, facts.?x and has(facts.x).
func factsIn(e ast.Expr) []string {
	var names []string
	isFacts := func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "facts" }
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if isFacts(e.AsSelect().Operand()) {
				names = append(names, e.AsSelect().FieldName())
			}
		case ast.CallKind:
			call := e.AsCall()
			optional := call.FunctionName() == operators.OptSelect && len(call.Args()) == 2 && isFacts(call.Args()[0])
			if optional && call.Args()[1].Kind() == ast.LiteralKind {
				if name, ok := call.Args()[1].AsLiteral().(types.String); ok {
					names = append(names, string(name))
				}
			}
		default: // What else there is reads facts only through these two.
		}
	}))
	return names
}

// eval evaluates. present is false for optional.none(): there is no value, and that is not an error.
func (e *expression) eval(vars map[string]any) (value any, present bool, err error) {
	out, _, err := e.program.Eval(vars)
	if err != nil {
		return nil, false, fmt.Errorf("line %d: %s: %w", e.line, e.source, err)
	}
	if optional, ok := out.(*types.Optional); ok {
		if !optional.HasValue() {
			return nil, false, nil
		}
		out = optional.GetValue()
	}
	value, err = native(out)
	if err != nil {
		return nil, false, fmt.Errorf("line %d: %s: %w", e.line, e.source, err)
	}
	return value, true, nil
}

// isTrue evaluates a condition. A nil expression is true.
func (e *expression) isTrue(vars map[string]any) (bool, error) {
	if e == nil {
		return true, nil
	}
	value, _, err := e.eval(vars)
	if err != nil {
		return false, err
	}
	answer, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("line %d: %s: is %T, a condition must be true or false", e.line, e.source, value)
	}
	return answer, nil
}

// text evaluates to a text; numbers are written out.
func (e *expression) text(vars map[string]any) (string, error) {
	value, present, err := e.eval(vars)
	if err != nil || !present {
		return "", err
	}
	if s, ok := value.(string); ok {
		return s, nil
	}
	return fmt.Sprint(value), nil
}

// native turns a CEL value into what encoding/json writes. Integers stay integers.
func native(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return uint64(v), nil
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%v is not a JSON number", float64(v))
		}
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Null:
		return nil, nil
	case types.Timestamp:
		return v.Time.Format(time.RFC3339), nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return native(v.GetValue())
	case traits.Mapper:
		fields := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("map key of type %v: JSON has text keys only", key.Type())
			}
			value, err := native(v.Get(key))
			if err != nil {
				return nil, err
			}
			fields[string(name)] = value
		}
		return fields, nil
	case traits.Lister:
		items := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			value, err := native(it.Next())
			if err != nil {
				return nil, err
			}
			items = append(items, value)
		}
		return items, nil
	}
	return nil, fmt.Errorf("a value of type %v cannot be kept", v.Type())
}

// fromJSON decodes with integers as int64, so that counts stay counts and digits are kept.
func fromJSON(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return numbers(value), nil
}

func numbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return value
}
