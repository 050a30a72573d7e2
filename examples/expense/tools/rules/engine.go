package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/examples/expense/tools/money"
)

// Invoice is an invoice of a claim. Amount is in minor units; the zero Date and an empty Currency mean "not known".
type Invoice struct {
	ID       string
	File     string
	Merchant string
	Item     string
	Amount   money.Amount
	Currency string
	Date     time.Time
}

// Claim is what the rules are applied to.
type Claim struct {
	Department    string
	ApprovalChain []string
	City          string
	Start, End    time.Time
	Invoices      []Invoice
	Total         money.Amount
}

// Verdict is what the rules say. A claim is valid if there are no errors.
type Verdict struct {
	Warnings []string
	Errors   []string
	Approver string // Empty if nobody may approve it; that is an error as well.
	Applied  int    // How many rules were applied.
}

// Engine applies compiled rules. It is safe for concurrent use.
type Engine struct {
	file      *file
	limits    map[string]map[string]int64
	rules     []compiled
	approvers []cel.Program
}

type compiled struct {
	rule
	when, text cel.Program
}

// NewEngine compiles the text of a rule file; empty means the example's. Errors have CodeInvalidConfig and name
// the rule.
func NewEngine(data []byte) (*Engine, error) {
	f, err := parse(data)
	if err != nil {
		return nil, err
	}
	limits, err := f.limits()
	if err != nil {
		return nil, err
	}
	env, err := environment()
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInternal, "make the environment of rules: %w", err)
	}
	e := &Engine{file: f, limits: limits}
	for _, r := range f.Rules {
		when, err := compile(env, "rule "+r.ID+", when", r.When, cel.BoolType)
		if err != nil {
			return nil, err
		}
		text, err := compile(env, "rule "+r.ID+", text", r.Text, cel.StringType)
		if err != nil {
			return nil, err
		}
		e.rules = append(e.rules, compiled{rule: r, when: when, text: text})
	}
	for _, a := range f.Approvers {
		when, err := compile(env, "approver "+a.Name+", when", a.When, cel.BoolType)
		if err != nil {
			return nil, err
		}
		e.approvers = append(e.approvers, when)
	}
	return e, nil
}

// environment declares variables and functions of expressions.
func environment() (*cel.Env, error) {
	text := func(value string) ref.Val { return types.String(value) }
	return cel.NewEnv(
		cel.OptionalTypes(),
		cel.Variable("department", cel.StringType),
		cel.Variable("approval_chain", cel.ListType(cel.StringType)),
		cel.Variable("city", cel.StringType),
		cel.Variable("start", cel.TimestampType),
		cel.Variable("end", cel.TimestampType),
		cel.Variable("invoices", cel.ListType(cel.MapType(cel.StringType, cel.DynType))),
		cel.Variable("invoice", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("total", cel.IntType),
		cel.Variable("sums", cel.MapType(cel.StringType, cel.IntType)),
		cel.Variable("limits", cel.MapType(cel.StringType, cel.MapType(cel.StringType, cel.IntType))),
		cel.Function("yuan", cel.Overload("yuan_int", []*cel.Type{cel.IntType}, cel.StringType,
			cel.UnaryBinding(func(v ref.Val) ref.Val {
				amount, ok := v.(types.Int)
				if !ok {
					return types.MaybeNoSuchOverloadErr(v)
				}
				return text("￥" + money.Amount(amount).Short())
			}))),
		cel.Function("day", cel.Overload("day_timestamp", []*cel.Type{cel.TimestampType}, cel.StringType,
			cel.UnaryBinding(func(v ref.Val) ref.Val {
				at, ok := v.(types.Timestamp)
				if !ok {
					return types.MaybeNoSuchOverloadErr(v)
				}
				return text(at.Time.Format(time.DateOnly))
			}))),
		cel.Function("sum", cel.MemberOverload("list_sum", []*cel.Type{cel.ListType(cel.DynType)}, cel.IntType,
			cel.UnaryBinding(sum))),
	)
}

// sum adds a list of amounts and fails instead of overflowing.
func sum(v ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	var result money.Amount
	for it := list.Iterator(); it.HasNext() == types.True; {
		amount, ok := it.Next().(types.Int)
		if !ok {
			return types.NewErr("sum: the list holds something else than amounts")
		}
		next, err := result.Add(money.Amount(amount))
		if err != nil {
			return types.NewErr("sum: %v", err)
		}
		result = next
	}
	return types.Int(result)
}

// costLimit ends a rule that loops over too much: rules are data, and data may be wrong.
const costLimit = 1_000_000

func compile(env *cel.Env, what, source string, want *cel.Type) (cel.Program, error) {
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "compile %s: %w", what, issues.Err())
	}
	if got := ast.OutputType(); !got.IsExactType(want) && !got.IsExactType(cel.DynType) {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "compile %s: it gives %s, not %s", what, got, want)
	}
	program, err := env.Program(ast, cel.CostLimit(costLimit))
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInvalidConfig, "compile %s: %w", what, err)
	}
	return program, nil
}

// Check applies every rule and chooses the approver. An error means that a rule could not be evaluated: then there is
// no verdict at all, rather than one that skipped a rule.
func (e *Engine) Check(claim Claim) (Verdict, error) {
	variables, err := e.variables(claim)
	if err != nil {
		return Verdict{}, err
	}
	invoices, _ := variables["invoices"].([]map[string]any)
	var verdict Verdict
	for _, r := range e.rules {
		each := []map[string]any{{}}
		if r.Each == eachInvoice {
			each = invoices
		}
		for _, invoice := range each {
			variables["invoice"] = invoice
			if err := verdict.apply(r, variables); err != nil {
				return Verdict{}, err
			}
		}
		verdict.Applied++
	}
	variables["invoice"] = map[string]any{}
	if verdict.Approver, err = e.approver(claim, variables); err != nil {
		return Verdict{}, err
	}
	if verdict.Approver == "" {
		verdict.Errors = append(verdict.Errors, fmt.Sprintf("%s没有可以审批￥%s的审批人", claim.Department, claim.Total.Short()))
	}
	return verdict, nil
}

// apply adds the rule's text if its condition holds. The same text is said once.
func (v *Verdict) apply(r compiled, variables map[string]any) error {
	holds, err := evaluate(r.when, variables)
	if err != nil {
		return conversation.Errorf(conversation.CodeInternal, "apply rule %q: %w", r.ID, err)
	}
	if holds != true {
		return nil
	}
	value, err := evaluate(r.text, variables)
	if err != nil {
		return conversation.Errorf(conversation.CodeInternal, "write the text of rule %q: %w", r.ID, err)
	}
	text, _ := value.(string)
	list := &v.Warnings
	if r.Level == levelError {
		list = &v.Errors
	}
	if !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
	return nil
}

// approver walks the approval chain and returns the first who may approve.
func (e *Engine) approver(claim Claim, variables map[string]any) (string, error) {
	for _, title := range claim.ApprovalChain {
		for i, a := range e.file.Approvers {
			if a.Department != claim.Department || a.Title != title {
				continue
			}
			may, err := evaluate(e.approvers[i], variables)
			if err != nil {
				return "", conversation.Errorf(conversation.CodeInternal, "apply the condition of approver %q: %w", a.Name, err)
			}
			if may == true {
				return a.Name, nil
			}
		}
	}
	return "", nil
}

func evaluate(program cel.Program, variables map[string]any) (any, error) {
	value, _, err := program.Eval(variables)
	if err != nil {
		return nil, err
	}
	return value.Value(), nil
}

// variables are what expressions see of a claim.
func (e *Engine) variables(claim Claim) (map[string]any, error) {
	invoices := make([]map[string]any, 0, len(claim.Invoices))
	sums := map[string]int64{}
	for _, invoice := range claim.Invoices {
		c := e.file.categorise(invoice.Item, invoice.Merchant)
		fields := map[string]any{
			"id": invoice.ID, "file": invoice.File, "amount": int64(invoice.Amount), "category": c.Name, "label": c.Label,
		}
		if invoice.Merchant != "" {
			fields["merchant"] = invoice.Merchant
		}
		if invoice.Currency != "" {
			fields["currency"] = invoice.Currency
		}
		if !invoice.Date.IsZero() {
			fields["date"] = invoice.Date
		}
		invoices = append(invoices, fields)
		total, err := money.Amount(sums[c.Name]).Add(invoice.Amount)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInvalidArgument, "add up %s: %w", c.Label, err)
		}
		sums[c.Name] = int64(total)
	}
	return map[string]any{
		"department": claim.Department, "approval_chain": claim.ApprovalChain, "city": claim.City,
		"start": claim.Start, "end": claim.End, "invoices": invoices, "total": int64(claim.Total), "sums": sums,
		"limits": e.limits, "invoice": map[string]any{},
	}, nil
}
