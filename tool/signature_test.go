package tool_test

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/tool"
)

func signedBy(name string) tool.Manifest {
	return tool.Manifest{Name: name, Keys: map[string]ed25519.PublicKey{"k1": publicOf(keyFor(name))}}
}

func TestSignatureCoversEverything(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-z_]{1,20}`)
	id := rapid.StringMatching(`[A-Za-z0-9/_.:-]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		who, message := name.Draw(t, "tool"), id.Draw(t, "message")
		status, body := rapid.IntRange(200, 599).Draw(t, "status"), rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		header, err := tool.Sign(keyFor(who), "k1", who, message, status, body)
		require.NoError(t, err)
		manifest := signedBy(who)
		signature, err := manifest.Verify([]string{header}, message, status, body)
		require.NoError(t, err)
		require.Equal(t, header, signature.String())

		// Whatever is changed, alone, makes it invalid.
		refused := func(m tool.Manifest, message string, status int, body []byte) {
			_, err := m.Verify([]string{header}, message, status, body)
			require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(err))
		}
		renamed := manifest
		renamed.Name = who + "x"
		refused(renamed, message, status, body)
		refused(manifest, message+"x", status, body)
		refused(manifest, message, status+1, body)
		refused(manifest, message, status, append(bytes.Clone(body), 0))
		if len(body) > 0 {
			flipped := bytes.Clone(body)
			flipped[rapid.IntRange(0, len(body)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			refused(manifest, message, status, flipped)
		}
		otherKey := manifest
		otherKey.Keys = map[string]ed25519.PublicKey{"k1": publicOf(keyFor(who + "/other"))}
		refused(otherKey, message, status, body)
		otherKey.Keys = map[string]ed25519.PublicKey{"k2": publicOf(keyFor(who))}
		refused(otherKey, message, status, body)
	})
}

func TestSignatureBytesAreStable(t *testing.T) {
	t.Parallel()
	// Written out here as docs/tools.md names them: tools in other languages sign exactly these.
	header, err := tool.Sign(keyFor("vector"), "k1", "finance_tool", "m-1", 200, []byte(`{"status":"ok"}`))
	require.NoError(t, err)
	parsed, err := tool.ParseSignature(header)
	require.NoError(t, err)
	signed := "hermes-tool-v1\nfinance_tool\nm-1\n200\n" + tool.BodyDigest([]byte(`{"status":"ok"}`)) + "\n"
	require.True(t, ed25519.Verify(publicOf(keyFor("vector")), []byte(signed), parsed.Bytes[:]))
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		key              ed25519.PrivateKey
		kid, tool, msgID string
	}{
		{"short key", keyFor("a")[:10], "k1", "t", "m"},
		{"no key id", keyFor("a"), "", "t", "m"},
		{"quote in key id", keyFor("a"), `k"1`, "t", "m"},
		{"line break in tool", keyFor("a"), "k1", "t\nm", "m"},
		{"line break in message id", keyFor("a"), "k1", "t", "m\n200"},
		{"endless message id", keyFor("a"), "k1", "t", strings.Repeat("m", 2000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tool.Sign(tt.key, tt.kid, tt.tool, tt.msgID, 200, nil)
			require.Equal(t, conversation.CodeInvalidArgument, conversation.CodeOf(err))
		})
	}
}

func TestParseSignatureRefuses(t *testing.T) {
	t.Parallel()
	sig := strings.Repeat("A", 86)
	_, err := tool.ParseSignature(`ed25519; kid="k1"; sig="` + sig + `"`)
	require.NoError(t, err)
	_, err = tool.ParseSignature(`ed25519;sig="` + sig + `==";kid="k1"`)
	require.NoError(t, err, "order, spaces and padding are free")

	for _, header := range []string{
		"", "ed25519", "ed25519;", `rsa; kid="k1"; sig="` + sig + `"`,
		`ed25519; kid="k1"`,
		`ed25519; sig="` + sig + `"`,
		`ed25519; kid="k1"; kid="k2"; sig="` + sig + `"`,
		`ed25519; kid="k1"; sig="` + sig + `"; sig="` + sig + `"`,
		`ed25519; kid="k1"; sig="` + sig + `"; alg="none"`,
		`ed25519; kid="k1"; sig="` + sig + `";`,
		`ed25519; kid=k1; sig="` + sig + `"`,
		`ed25519; kid="k 1"; sig="` + sig + `"`,
		`ed25519; kid=""; sig="` + sig + `"`,
		`ed25519; kid="k1"; sig="` + sig[1:] + `"`,
		`ed25519; kid="k1"; sig="` + sig[1:] + `B"`, // Bits beyond the last byte.
		`ed25519; kid="k1"; sig="` + sig[1:] + `+"`,
		`ed25519; kid="k1"; sig="` + strings.Repeat("A", 600) + `"`,
	} {
		_, err := tool.ParseSignature(header)
		require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(err), header)
	}
}

func TestVerifyWantsOneHeader(t *testing.T) {
	t.Parallel()
	header, err := tool.Sign(keyFor("a"), "k1", "a", "m", 200, nil)
	require.NoError(t, err)
	for _, headers := range [][]string{nil, {header, header}} {
		_, err := signedBy("a").Verify(headers, "m", 200, nil)
		require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(err))
	}
}

func TestDecodeKey(t *testing.T) {
	t.Parallel()
	key := publicOf(keyFor("a"))
	standard := tool.EncodeKey(key)
	for _, text := range []string{standard, strings.TrimRight(standard, "="), strings.NewReplacer("+", "-", "/", "_").Replace(standard)} {
		decoded, err := tool.DecodeKey(text)
		require.NoError(t, err)
		require.True(t, key.Equal(decoded))
	}
	for _, text := range []string{"", "AAAA", standard + "AAAA", "?" + standard[1:]} {
		_, err := tool.DecodeKey(text)
		require.Equal(t, conversation.CodeInvalidConfig, conversation.CodeOf(err), text)
	}
}

func FuzzParseSignature(f *testing.F) {
	sig := strings.Repeat("A", 86)
	f.Add(`ed25519; kid="k1"; sig="` + sig + `"`)
	f.Add(`ed25519;sig="` + sig + `==" ; kid="k1"`)
	f.Add(`ed25519; kid="k1"; sig=""`)
	f.Add(`;;;="`)
	f.Fuzz(func(t *testing.T, header string) {
		parsed, err := tool.ParseSignature(header)
		if err != nil {
			require.Equal(t, conversation.CodeBadSignature, conversation.CodeOf(err))
			return
		}
		again, err := tool.ParseSignature(parsed.String())
		require.NoError(t, err)
		require.Equal(t, parsed, again)
	})
}

func BenchmarkVerify10KB(b *testing.B) {
	body := bytes.Repeat([]byte(`{"a":"bcdef"} `), 10<<10/14)
	header, err := tool.Sign(keyFor("a"), "k1", "a", "m-1", 200, body)
	require.NoError(b, err)
	manifest, headers := signedBy("a"), []string{header}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := manifest.Verify(headers, "m-1", 200, body); err != nil {
			b.Fatal(err)
		}
	}
}
