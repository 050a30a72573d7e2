package memory_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hermes-orchestrator/hermes/conversation"
	"github.com/hermes-orchestrator/hermes/memory"
	"github.com/hermes-orchestrator/hermes/memory/inmem"
)

// A preference is written only with the id of the message by which the user confirmed it.
func ExampleMidterm_SetPreference() {
	ctx := context.Background()
	m := memory.NewMidterm(inmem.NewKV(nil), memory.MidtermConfig{})
	fmt.Println(conversation.CodeOf(m.SetPreference(ctx, "u1", "language", json.RawMessage(`"zh"`), "")))
	fmt.Println(m.SetPreference(ctx, "u1", "language", json.RawMessage(`"zh"`), "message-7"))
	preferences, _ := m.Preferences(ctx, "u1")
	fmt.Printf("%s, confirmed by %s\n", preferences["language"].Value, preferences["language"].ConfirmedBy)
	// Output:
	// unverified
	// <nil>
	// "zh", confirmed by message-7
}

// Only what a tool has proven is written to long-term memory.
func ExampleVerify() {
	_, err := memory.Verify(checker{}, conversation.Proof{Tool: "org_tool", MessageID: "m-1"})
	fmt.Println(err)
	// Output:
	// unverified: proof of tool "org_tool" for message "m-1" has no key_id
}

// Keys of different users never meet.
func ExampleKey() {
	fmt.Println(memory.Key("pref", "张三", "language"))
	fmt.Println(memory.Key("pref", "张三:language", "x"))
	// Output:
	// pref:张三:language
	// pref:张三%3Alanguage:x
}
