package memory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
)

func TestKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give []string
		want string
	}{
		{[]string{"pref", "u1", "language"}, "pref:u1:language"},
		{[]string{"pref", "张三", "语言"}, "pref:张三:语言"},
		{[]string{"pref", "a:b/c", "x"}, "pref:a%3Ab%2Fc:x"},
		{[]string{"a{b}%3A c"}, "a%7Bb%7D%253A%20c"},
		{[]string{"", ""}, ":"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, memory.Key(tt.give...))
		parts, err := memory.SplitKey(tt.want)
		require.NoError(t, err)
		require.Equal(t, tt.give, parts)
	}
	_, err := memory.SplitKey("pref:%zz")
	requireCode(t, conversation.CodeInvalidArgument, err)
}

// hostile draws texts of the characters that keys are made of.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringOfN(rapid.SampledFrom([]rune(":/%{}3A2Fab张 ")), 1, 8, -1), rapid.StringN(1, 20, -1))
}

// Different parts give different keys, and no key of one user begins with the prefix of another.
func TestKey_Isolation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		a, b := hostile().Draw(r, "a"), hostile().Draw(r, "b")
		name, other := hostile().Draw(r, "name"), hostile().Draw(r, "other")
		key := memory.Key("pref", a, name)
		parts, err := memory.SplitKey(key)
		require.NoError(r, err)
		require.Equal(r, []string{"pref", a, name}, parts)
		if a != b {
			require.NotEqual(r, key, memory.Key("pref", b, other))
			require.False(r, strings.HasPrefix(key, memory.Key("pref", b)+":"))
		}
	})
}

func FuzzKey(f *testing.F) {
	f.Add("a:b", "c/d")
	f.Add("\x00\xff", "张三%")
	f.Fuzz(func(t *testing.T, a, b string) {
		parts, err := memory.SplitKey(memory.Key(a, b))
		require.NoError(t, err)
		require.Equal(t, []string{a, b}, parts)
	})
}
