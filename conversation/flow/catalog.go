package flow

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
)

//go:embed catalog/*.yaml
var catalogFiles embed.FS

// catalog is what the core says by itself in one locale.
type catalog struct {
	texts   map[string]*template.Template
	notices map[string]*template.Template
	options map[string]string
}

type catalogFile struct {
	Texts          map[string]string `yaml:"texts"`
	Degraded       string            `yaml:"degraded"`
	DegradedAbsent string            `yaml:"degraded_absent"`
	DegradedOther  string            `yaml:"degraded_other"`
	MemoryDegraded string            `yaml:"memory_degraded"`
	Reminder       string            `yaml:"reminder"`
	Warning        string            `yaml:"warning"`
	CannotCheck    string            `yaml:"cannot_check"`
	Options        map[string]string `yaml:"options"`
}

// catalogs reads the embedded catalogs once; a test proves that they are complete.
var catalogs = sync.OnceValues(func() (map[string]*catalog, error) {
	all := map[string]*catalog{}
	for _, locale := range []string{conversation.LocaleChinese, conversation.LocaleEnglish} {
		data, err := catalogFiles.ReadFile("catalog/" + locale + ".yaml")
		if err != nil {
			return nil, err
		}
		var file catalogFile
		if err := yaml.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("catalog %s: %w", locale, err)
		}
		c := &catalog{texts: map[string]*template.Template{}, notices: map[string]*template.Template{}, options: file.Options}
		for kind, source := range file.Texts {
			if c.texts[kind], err = newTemplate(source, locale); err != nil {
				return nil, fmt.Errorf("catalog %s: texts.%s: %w", locale, kind, err)
			}
		}
		for name, source := range map[string]string{
			noticeDegraded: file.Degraded, noticeDegradedAbsent: file.DegradedAbsent,
			noticeDegradedOther: file.DegradedOther, noticeMemory: file.MemoryDegraded,
			noticeReminder: file.Reminder, noticeWarning: file.Warning, noticeCannotCheck: file.CannotCheck,
		} {
			if c.notices[name], err = newTemplate(source, locale); err != nil {
				return nil, fmt.Errorf("catalog %s: %s: %w", locale, name, err)
			}
		}
		all[locale] = c
	}
	return all, nil
})

// Names of notices, which are lines of their own below a reply.
const (
	noticeDegraded       = "degraded"
	noticeDegradedAbsent = "degraded_absent"
	noticeDegradedOther  = "degraded_other"
	noticeMemory         = "memory_degraded"
	noticeReminder       = "reminder"
	noticeWarning        = "warning"
	noticeCannotCheck    = "cannot_check"
)

func catalogOf(locale string) (*catalog, error) {
	all, err := catalogs()
	if err != nil {
		return nil, conversation.Errorf(conversation.CodeInternal, "%w", err)
	}
	if c, ok := all[locale]; ok {
		return c, nil
	}
	return all[conversation.LocaleChinese], nil
}

func (c *catalog) notice(name string, data any) string {
	var b strings.Builder
	if err := c.notices[name].Execute(&b, data); err != nil {
		return ""
	}
	return b.String()
}

// optionsOf are the choices of each kind of reply, in the order in which they are shown.
func optionsOf(kind conversation.ReplyKind) []string {
	switch kind {
	case conversation.ReplyConfirmation:
		return []string{conversation.ChoiceConfirm, conversation.ChoiceModify, conversation.ChoiceCancel}
	case conversation.ReplyReview:
		return []string{conversation.ChoiceAccept, conversation.ChoiceReject}
	case conversation.ReplyCancelOffer:
		return []string{conversation.ChoiceCancel, conversation.ChoiceGoOn}
	case conversation.ReplyStillThere:
		return []string{conversation.ChoiceGoOn, conversation.ChoiceCancel}
	case conversation.ReplyResumeOffer:
		return []string{conversation.ChoiceResume, conversation.ChoiceRestart}
	case conversation.ReplyUnread:
		return []string{conversation.ChoiceRetry, conversation.ChoiceGoOn, conversation.ChoiceCancel}
	case conversation.ReplyToolFailed:
		return []string{conversation.ChoiceRetry, conversation.ChoiceCancel}
	case conversation.ReplyUnclear, conversation.ReplyAbandoned, conversation.ReplyAmbiguous, conversation.ReplyMaterials,
		conversation.ReplyProcessing, conversation.ReplyManual, conversation.ReplyCommitted, conversation.ReplyCancelled,
		conversation.ReplyExpired, conversation.ReplyFailed, conversation.ReplyUnknown, conversation.ReplyModify,
		conversation.ReplyNotUsable, conversation.ReplyNotUnderstood, conversation.ReplyEnded, conversation.ReplyRefused:
	}
	return nil
}

// replyKinds are all kinds that a catalog must have a text for.
var replyKinds = []conversation.ReplyKind{
	conversation.ReplyUnclear, conversation.ReplyAbandoned, conversation.ReplyAmbiguous, conversation.ReplyMaterials,
	conversation.ReplyProcessing, conversation.ReplyManual, conversation.ReplyReview, conversation.ReplyConfirmation,
	conversation.ReplyCancelOffer, conversation.ReplyCommitted, conversation.ReplyCancelled, conversation.ReplyExpired,
	conversation.ReplyFailed, conversation.ReplyUnknown, conversation.ReplyStillThere, conversation.ReplyResumeOffer,
	conversation.ReplyToolFailed, conversation.ReplyModify, conversation.ReplyNotUsable, conversation.ReplyNotUnderstood,
	conversation.ReplyEnded, conversation.ReplyUnread, conversation.ReplyRefused,
}
