package nlu

import (
	"embed"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/hermes-orchestrator/hermes/conversation"
)

//go:embed lexicon/*.yaml
var lexiconFiles embed.FS

// category is a kind of core words; lexicon/*.yaml say what each is for.
type category string

const (
	consent         category = "consent"
	consentFiller   category = "consent_filler"
	assent          category = "assent"
	polite          category = "polite"
	yes             category = "yes"
	no              category = "no"
	particle        category = "particle"
	cancel          category = "cancel"
	refuse          category = "refuse"
	act             category = "act"
	decline         category = "decline"
	partial         category = "partial"
	aside           category = "aside"
	wait            category = "wait"
	searching       category = "searching"
	conjunction     category = "conjunction"
	negate          category = "negate"
	question        category = "question"
	hedge           category = "hedge"
	approximate     category = "approximate"
	condition       category = "condition"
	information     category = "information"
	done            category = "done"
	modify          category = "modify"
	notModify       category = "not_modify"
	wrongUpload     category = "wrong_upload"
	accept          category = "accept"
	reject          category = "reject"
	goOn            category = "go_on"
	resume          category = "resume"
	restart         category = "restart"
	retry           category = "retry"
	giveUp          category = "give_up"
	giveUpExact     category = "give_up_exact"
	giveUpException category = "give_up_exception"
	missing         category = "missing"
	correction      category = "correction"
	toward          category = "toward"
	from            category = "from"
	entityNegate    category = "entity_negate"
	queryVerb       category = "query_verb"
	changeVerb      category = "change_verb"
	compound        category = "compound"
	total           category = "total"
	countUnit       category = "count_unit"
	notCounted      category = "not_counted"
	currency        category = "currency"
)

func categories() []category {
	return []category{
		consent, consentFiller, assent, polite, yes, no, particle, cancel, refuse, act, decline, partial, aside, wait,
		searching, conjunction, negate, question, hedge, approximate, condition, information, done, modify, notModify,
		wrongUpload, accept, reject, goOn, resume, restart, retry, giveUp, giveUpExact, giveUpException, missing,
		correction, toward, from, entityNegate, queryVerb, changeVerb, compound, total, countUnit, notCounted,
		currency,
	}
}

// lexicon is the core's words of all locales. People mix languages; a word is understood in either.
type lexicon map[category]*phrases

func loadLexicon() (lexicon, error) {
	lex := lexicon{}
	for _, c := range categories() {
		lex[c] = newPhrases()
	}
	for _, locale := range []string{conversation.LocaleChinese, conversation.LocaleEnglish} {
		name := "lexicon/" + locale + ".yaml"
		data, err := lexiconFiles.ReadFile(name)
		if err != nil {
			return nil, conversation.Errorf(conversation.CodeInternal, "read %q: %w", name, err)
		}
		var words map[category][]string
		if err := yaml.Unmarshal(data, &words); err != nil {
			return nil, conversation.Errorf(conversation.CodeInternal, "parse %q: %w", name, err)
		}
		for c := range words {
			if !slices.Contains(categories(), c) {
				return nil, conversation.Errorf(conversation.CodeInternal, "%q: unknown category %q", name, c)
			}
		}
		for _, c := range categories() {
			if _, ok := words[c]; !ok {
				return nil, conversation.Errorf(conversation.CodeInternal, "%q: category %q is missing", name, c)
			}
			lex[c].add(0, words[c]...)
		}
	}
	return lex, nil
}
