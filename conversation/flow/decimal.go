package flow

import (
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/shopspring/decimal"

	"github.com/hermes-orchestrator/hermes/conversation"
)

// sum adds decimals exactly: sum(["0.10","0.20"]) is "0.30".
func sum(list ref.Val) ref.Val {
	values, ok := list.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	total := decimal.Zero
	places := int32(2)
	for it := values.Iterator(); it.HasNext() == types.True; {
		d, err := toDecimal(it.Next())
		if err != nil {
			return types.WrapErr(err)
		}
		places = max(places, -d.Exponent())
		total = total.Add(d)
	}
	return types.String(total.StringFixed(places))
}

// compare compares decimals exactly: -1, 0 or 1.
func compare(a, b ref.Val) ref.Val {
	x, err := toDecimal(a)
	if err != nil {
		return types.WrapErr(err)
	}
	y, err := toDecimal(b)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Int(x.Cmp(y))
}

// maxDecimalDigits keeps "1e999999999" from occupying memory.
const maxDecimalDigits = 40

func toDecimal(v ref.Val) (decimal.Decimal, error) {
	switch v := v.(type) {
	case types.String:
		if len(v) > maxDecimalDigits {
			return decimal.Zero, fmt.Errorf("%q has more than %d digits", conversation.Clip(string(v), 20), maxDecimalDigits)
		}
		d, err := decimal.NewFromString(string(v))
		if err != nil || d.Exponent() > maxDecimalDigits || d.Exponent() < -maxDecimalDigits {
			return decimal.Zero, fmt.Errorf("%q is not a decimal", string(v))
		}
		return d, nil
	case types.Int:
		return decimal.NewFromInt(int64(v)), nil
	}
	return decimal.Zero, fmt.Errorf("%v is not a decimal text or an integer", v.Type())
}
